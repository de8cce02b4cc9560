//! A program that uses the library and ends at some moment: `aborted <exit|return|panic> <microseconds> <mark> <waits>
//! <program> <arguments…>`, where `waits` is how many milliseconds the server has to exit, twice.
#![allow(clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::thread;
use std::time::Duration;

use native_tests::left::Mark;
use sandwire::Command;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("an argument");
    let way = next();
    let moment = Duration::from_micros(next().parse().expect("microseconds"));
    let mark = Mark::named(&next());
    let wait = Duration::from_millis(next().parse().expect("milliseconds"));
    let command = mark.on(Command::new(next())).shutdown_waits(wait, wait);
    let command = command.args(arguments);
    let (client, driver) = sandwire::connect(command).split().expect("the server starts");
    thread::spawn(|| sandwire::block_on(driver));
    thread::spawn(move || {
        sandwire::block_on(async {
            while client.call_tool("add", &serde_json::json!({ "a": 1, "b": 2 })).await.is_ok() {}
        });
        // The connection lives until the program ends.
        std::mem::forget(client);
    });
    thread::sleep(moment);
    match way.as_str() {
        "exit" => std::process::exit(3),
        "panic" => panic!("as it was asked to"),
        _ => {}
    }
}
