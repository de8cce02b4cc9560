use sandwire_server::tool;

#[tool]
fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

fn main() {}
