//! They do what the README says.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use futures::executor::block_on;
use quickstart::{client, connect, server, wait};

const STDIO: &str = env!("CARGO_BIN_EXE_stdio");

#[test]
fn the_client_calls_the_server() {
    let server = server::server().unwrap();
    assert_eq!(client::sum(&server).unwrap(), 42);
}

#[test]
fn clients_reach_the_server_in_a_process_and_over_http() {
    let mut http =
        Command::new(env!("CARGO_BIN_EXE_settings")).env("SANDWIRE_PORT", "0").stderr(Stdio::piped()).spawn().unwrap();
    // A warning comes first where the environment has more of the name.
    let mut told = BufReader::new(http.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address = told.find_map(|line| Some(line.strip_prefix("sandwire: serving ")?.to_owned()));
    let tools = address.map(|address| block_on(connect::tools(STDIO, &address)));
    http.kill().unwrap();
    http.wait().unwrap();
    assert_eq!(tools.unwrap().unwrap(), ["add", "add"]);
}

#[test]
fn a_program_without_an_executor_waits() {
    assert_eq!(wait::sum(STDIO).unwrap(), 42);
}
