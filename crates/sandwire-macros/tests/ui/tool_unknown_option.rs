use sandwire_server::tool;

#[tool(readonly)]
fn now() -> u64 {
    0
}

fn main() {}
