use sandwire_server::tool;

#[tool]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

fn main() {}
