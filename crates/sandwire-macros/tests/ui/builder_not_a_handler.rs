use sandwire_server::{Server, tool};

#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = Server::builder("s", "1").with(add);
}
