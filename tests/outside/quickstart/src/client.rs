use futures::executor::block_on;
use sandwire::{Client, Server, client::Error};

pub fn sum(server: &Server) -> Result<i64, Error> {
    let (client, driver) = Client::in_memory(server);
    std::thread::spawn(|| block_on(driver)); // or what your executor has for it
    let sum = block_on(async { client.call_tool("add", &serde_json::json!({ "a": 19, "b": 23 })).structured().await });
    client.close();
    sum
}
