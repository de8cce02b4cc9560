use sandwire_server::Server;

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
}

fn main() {
    let _ = Server::builder("s", "1").tool("add", "Adds.", |add: Add| add.a);
}
