use sandwire_server::Schema;
use serde::Deserialize;

#[derive(Deserialize, Schema)]
#[serde(tag = "kind")]
enum Shape {
    Circle(f64),
}

fn main() {}
