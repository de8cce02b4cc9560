//! Arguments of every kind, and a structured result.

use sandwire_server::{Schema, tool};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Vehicle {
    Train,
    Bicycle,
    Boat,
}

#[derive(Clone, Copy, Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

#[derive(Deserialize, Schema)]
pub(crate) struct Stop {
    place: String,
    nights: u32,
}

#[derive(Deserialize, Serialize, Schema)]
pub(crate) struct Budget {
    amount: u32,
    currency: String,
}

/// What a plan comes to.
#[derive(Serialize, Schema)]
pub(crate) struct Plan {
    title: String,
    travel_by: Vehicle,
    route: Vec<String>,
    nights: u32,
    budget: Option<Budget>,
    season: Vec<Season>,
    notes: Vec<String>,
    confirmed: bool,
}

/// Takes a form with every kind of field.
#[tool(title = "Plan a trip", read_only)]
pub(crate) fn plan_trip(
    /// What to call it.
    #[schema(min_length = 1)]
    title: String,
    travel_by: Vehicle,
    /// Where to stay, in order.
    stops: Vec<Stop>,
    budget: Option<Budget>,
    #[serde(default)] season: Vec<Season>,
    #[serde(default)] notes: Vec<String>,
    /// Whether everybody has agreed.
    confirmed: Option<bool>,
) -> Plan {
    Plan {
        title,
        travel_by,
        nights: stops.iter().map(|stop| stop.nights).fold(0, u32::saturating_add),
        route: stops.into_iter().map(|stop| stop.place).collect(),
        budget,
        season,
        notes,
        confirmed: confirmed.unwrap_or(false),
    }
}
