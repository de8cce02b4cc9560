use sandwire_server::Schema;
use serde::Deserialize;

#[derive(Deserialize, Schema)]
struct Page {
    #[schema(default = -1)]
    number: u32,
}

fn main() {}
