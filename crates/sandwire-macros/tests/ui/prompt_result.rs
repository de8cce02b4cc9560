use sandwire_server::prompt;

#[prompt]
fn count() -> u64 {
    1
}

fn main() {}
