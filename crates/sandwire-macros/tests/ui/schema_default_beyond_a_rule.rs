use sandwire_server::Schema;
use serde::Deserialize;

#[derive(Deserialize, Schema)]
struct Page {
    #[schema(maximum = 100, default = 101)]
    size: u32,
}

#[derive(Deserialize, Schema)]
struct Name {
    #[schema(default = make_one())]
    name: String,
}

fn main() {}
