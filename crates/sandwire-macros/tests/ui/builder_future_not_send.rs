use sandwire_server::Server;
use std::rc::Rc;

async fn local() -> i64 {
    let kept = Rc::new(1);
    std::future::ready(()).await;
    *kept
}

fn main() {
    let _ = Server::builder("s", "1").tool("local", "Keeps an Rc.", local);
}
