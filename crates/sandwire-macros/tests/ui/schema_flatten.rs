use sandwire_server::Schema;
use serde::Deserialize;

#[derive(Deserialize, Schema)]
struct Page {
    size: u32,
}

#[derive(Deserialize, Schema)]
struct Search {
    query: String,
    #[serde(flatten)]
    page: Page,
}

fn main() {}
