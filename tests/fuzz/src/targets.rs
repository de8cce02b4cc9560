//! Every fuzz body, by name.

/// What a body gets is any bytes at all; what it must not do is panic, hang or blow the stack.
pub type Body = fn(&[u8]);

/// One body and how its inputs are changed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub body: Body,
    pub grammar: Grammar,
}

/// What the inputs of a target are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// JSON text.
    Json,
    /// Lines: server-sent events, headers, messages one to a line.
    Lines,
    /// Bytes that the body reads as commands.
    Commands,
}

const fn target(name: &'static str, grammar: Grammar, body: Body) -> Target {
    Target { name, body, grammar }
}

/// What `cargo run` fuzzes.
pub const TARGETS: &[Target] = &[
    target("json_reader", Grammar::Json, sandwire_json::fuzzing::reader),
    target("schema", Grammar::Lines, sandwire_schema::fuzzing::schema),
    target("types_wire", Grammar::Json, sandwire_types::fuzzing::wire),
    target("types_model", Grammar::Json, sandwire_types::fuzzing::model),
    target("proto_sse", Grammar::Lines, sandwire_proto::fuzzing::sse),
    target("proto_headers", Grammar::Json, sandwire_proto::fuzzing::headers),
    target("proto_client_machine", Grammar::Commands, sandwire_proto::fuzzing::client_machine),
    target("proto_server_machine", Grammar::Lines, sandwire_proto::server::fuzzing::machine),
    target("skills_front_matter", Grammar::Lines, sandwire_skills::fuzzing::front_matter),
    target("io_lines", Grammar::Lines, sandwire_io::fuzzing::lines),
    target("server_http_entry", Grammar::Lines, sandwire_server::fuzzing::http_entry),
    target("server_http_sessions", Grammar::Lines, sandwire_server::fuzzing::http_sessions),
];

/// Bodies with a bug each, which the tests of this crate look for.
pub const PLANTED: &[Target] = &[
    target("planted_maze", Grammar::Commands, maze),
    target("planted_nesting", Grammar::Json, nesting),
    target("planted_line", Grammar::Lines, line),
    target("planted_hang", Grammar::Commands, hang),
    target("planted_nothing", Grammar::Json, |_| {}),
];

/// The target of that name, planted ones included.
pub fn find(name: &str) -> Option<&'static Target> {
    let mut all = TARGETS.iter().chain(PLANTED);
    all.find(|target| target.name == name)
}

/// Chance alone would need four billion tries.
fn maze(data: &[u8]) {
    let mut bytes = data.iter();
    for wanted in *b"sand" {
        if bytes.next() != Some(&wanted) {
            return;
        }
    }
    panic!("found the way");
}

fn nesting(data: &[u8]) {
    fn depth(data: &[u8]) -> usize {
        match data.split_first() {
            Some((b'[', rest)) => std::hint::black_box([depth(rest) + 1; 32])[7],
            _ => 0,
        }
    }
    std::hint::black_box(depth(data));
}

fn line(data: &[u8]) {
    let retry = data.windows(6).position(|window| window == b"retry:");
    assert!(retry.is_none_or(|at| !data[at..].contains(&b'\r')));
}

fn hang(data: &[u8]) {
    while std::hint::black_box(data).starts_with(b"x") {
        std::hint::spin_loop();
    }
}
