use sandwire_server::Server;

fn main() {
    let _ = Server::builder("s", "1").tool("add", "Adds.", |a: i64, b: i64| a + b);
}
