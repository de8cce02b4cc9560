use sandwire::{Command, blocking, client::Error};

pub fn sum(program: &str) -> Result<i64, Error> {
    let client = blocking::connect(Command::new(program))?;
    let result = client.call_tool("add", &serde_json::json!({ "a": 19, "b": 23 }))?;
    println!("{:?}", result.content);

    let call = client.calls().call_tool("add", &serde_json::json!({ "a": 19, "b": 23 }));
    client.wait(call.timeout(std::time::Duration::from_secs(5)).structured())
}
