//! The hot paths.

use std::hint::black_box;

use sandwire_json::Raw;

/// One path that is counted.
pub struct Path {
    pub name: &'static str,
    /// Makes what the path works on, and gives what is run.
    pub prepare: fn() -> Box<dyn FnMut()>,
}

const fn path(name: &'static str, prepare: fn() -> Box<dyn FnMut()>) -> Path {
    Path { name, prepare }
}

pub const PATHS: &[Path] = &[path("json_parse_100_tools", json_parse)];

fn json_parse() -> Box<dyn FnMut()> {
    let text = tools();
    Box::new(move || {
        assert!(Raw::parse(black_box(&text)).is_ok());
    })
}

/// The text of a list of 100 tools, about 21 kB.
fn tools() -> String {
    let tools: Vec<String> = (0..100)
        .map(|index| {
            format!(
                r#"{{"name":"tool_{index}","description":"Tool {index}: gives its text back.","inputSchema":{{"type":"object","properties":{{"text":{{"type":"string","description":"What to echo"}},"count":{{"type":"integer"}}}},"required":["text"]}}}}"#
            )
        })
        .collect();
    format!("[{}]", tools.join(","))
}
