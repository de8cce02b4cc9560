//! The table in `README.md`.

use crate::AREAS;
use crate::gaps;
use crate::row::{Outcomes, Row};

const BEGIN: &str = "<!-- made by the run -->\n";
const END: &str = "<!-- until here -->\n";

/// The table and the notes under it.
pub(crate) fn text(rows: &[Row], outcomes: &[Outcomes]) -> String {
    let mut notes = Vec::new();
    let mut text = String::new();
    let with_itself = |is: bool| rows.iter().zip(outcomes).filter(move |(row, _)| row.is_with_itself() == is);
    for (title, is) in [("Sandwire with each peer", false), ("Each peer with itself", true)] {
        text += &format!("## {title}\n\n| client | server | over | version | {} |\n", AREAS.join(" | "));
        text += &format!("|{}\n", "---|".repeat(4 + AREAS.len()));
        for (row, outcomes) in with_itself(is) {
            let cells = AREAS.iter().zip(outcomes).map(|(area, outcome)| match outcome {
                Some(Ok(())) => "✓".to_owned(),
                Some(Err(_)) => gaps::of(row, area).map_or_else(|| "✗".to_owned(), |gap| note(&mut notes, gap.why)),
                None => "·".to_owned(),
            });
            let cells: Vec<_> = cells.collect();
            let Row { client, server, transport, version } = row;
            let (client, server) = (client.name(), server.name());
            text += &format!("| {client} | {server} | {transport} | {version} | {} |\n", cells.join(" | "));
        }
        text += "\n";
    }
    for (number, why) in (1..).zip(&notes) {
        text += &format!("{number}. {why}\n");
    }
    text
}

/// The number of a note, which is new or there already.
fn note(notes: &mut Vec<&'static str>, why: &'static str) -> String {
    let place = notes.iter().position(|note| *note == why).unwrap_or_else(|| {
        notes.push(why);
        notes.len() - 1
    });
    format!("({})", place + 1)
}

/// The file with this table in place of the one that it has.
pub(crate) fn put(file: &str, table: &str) -> String {
    let (before, rest) = file.split_once(BEGIN).unwrap_or((file, ""));
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    format!("{before}{BEGIN}\n{table}\n{END}{after}")
}
