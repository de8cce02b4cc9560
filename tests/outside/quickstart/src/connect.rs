use sandwire::{Command, client::Error, connect};

pub async fn tools(program: &str, address: &str) -> Result<Vec<String>, Error> {
    let started = connect(Command::new(program).arg("--verbose").stderr(|line| eprintln!("{line}"))).await?;
    let remote = connect(address).header("authorization", "Bearer …").await?;
    let mut names = Vec::new();
    for client in [started, remote] {
        names.extend(client.list_all_tools().await?.into_iter().map(|tool| tool.name));
    }
    Ok(names)
}
