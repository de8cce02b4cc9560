use sandwire_server::Schema;
use serde::Deserialize;

mod seconds {
    use std::time::Duration;
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        <u64 as serde::Deserialize>::deserialize(deserializer).map(Duration::from_secs)
    }
}

#[derive(Deserialize, Schema)]
struct Wait {
    #[serde(deserialize_with = "seconds::deserialize")]
    time: std::time::Duration,
}

fn main() {}
