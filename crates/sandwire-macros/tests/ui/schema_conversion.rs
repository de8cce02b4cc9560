use sandwire_server::Schema;
use serde::Deserialize;

#[derive(Deserialize, Schema)]
#[serde(from = "String")]
struct Name {
    text: String,
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Name { text }
    }
}

fn main() {}
