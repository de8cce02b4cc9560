//! Changing an input: as bytes, as lines, as JSON.

use crate::json;
use crate::random::Random;
use crate::targets::Grammar;

/// Words of the protocol, which chance alone would not find.
const WORDS: &[&[u8]] = &[
    b"jsonrpc",
    b"\"2.0\"",
    b"id",
    b"method",
    b"params",
    b"result",
    b"error",
    b"code",
    b"message",
    b"data",
    b"_meta",
    b"progressToken",
    b"resultType",
    b"ttlMs",
    b"cacheScope",
    b"inputRequests",
    b"inputResponses",
    b"requestState",
    b"cursor",
    b"nextCursor",
    b"capabilities",
    b"protocolVersion",
    b"clientInfo",
    b"serverInfo",
    b"name",
    b"arguments",
    b"content",
    b"text",
    b"type",
    b"structuredContent",
    b"isError",
    b"uri",
    b"mimeType",
    b"initialize",
    b"ping",
    b"server/discover",
    b"tools/list",
    b"tools/call",
    b"resources/read",
    b"resources/list",
    b"prompts/get",
    b"completion/complete",
    b"logging/setLevel",
    b"sampling/createMessage",
    b"elicitation/create",
    b"roots/list",
    b"subscriptions/listen",
    b"notifications/initialized",
    b"notifications/cancelled",
    b"notifications/progress",
    b"notifications/message",
    b"notifications/tools/list_changed",
    b"2024-11-05",
    b"2025-03-26",
    b"2025-06-18",
    b"2025-11-25",
    b"2026-07-28",
    b"io.modelcontextprotocol/protocolVersion",
    b"io.modelcontextprotocol/clientInfo",
    b"io.modelcontextprotocol/clientCapabilities",
    b"io.modelcontextprotocol/serverInfo",
    b"io.modelcontextprotocol/subscriptionId",
    b"application/json",
    b"text/event-stream",
    b"Mcp-Session-Id",
    b"MCP-Protocol-Version",
    b"Mcp-Method",
    b"Mcp-Name",
    b"=?base64?",
    b"?=",
    b"complete",
    b"input_required",
    b"-32700",
    b"-32601",
    b"null",
    b"true",
    b"false",
];

/// Pieces of a stream of events and of heads.
const LINES: &[&[u8]] = &[
    b"data:",
    b"data: ",
    b"data",
    b"event: message",
    b"event:",
    b"id: 7",
    b"id: a\0b",
    b"id",
    b"retry: 1000",
    b"retry: 99999999999999999999",
    b"retry: 1x",
    b": comment",
    b":",
    b"",
    b"\xef\xbb\xbf",
    b"content-type: text/event-stream",
    b"content-type: application/json",
    b"POST /mcp HTTP/1.1",
    b"HTTP/1.1 200 OK",
];

const ENDS: &[&[u8]] = &[b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r"];

/// Bytes that are not UTF-8, or only a part of it.
const BROKEN: &[&[u8]] =
    &[b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf0\x9f", b"\x80"];

const BYTES: &[u8] = b"\0\x01\x1f \"\\/{}[],:-+.eE019au\r\n\t\x7f\x80\xff";

/// Changes inputs of one grammar.
#[derive(Debug)]
pub struct Mutator {
    grammar: Grammar,
}

impl Mutator {
    pub fn new(grammar: Grammar) -> Self {
        Self { grammar }
    }

    /// Changes `input` in one to eight steps; `other` is a second input to take parts of.
    pub fn mutate(&self, input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
        let steps = 1 << random.below(4);
        for _ in 0..steps {
            let dice = random.below(100);
            match self.grammar {
                Grammar::Json if dice < 60 => json::mutate(input, other, random),
                Grammar::Lines if dice < 40 => lines(input, other, random),
                Grammar::Lines if dice < 55 => json::mutate(input, other, random),
                Grammar::Commands if dice < 15 => json::mutate(input, other, random),
                _ => bytes(input, other, random),
            }
        }
    }
}

fn bytes(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if input.is_empty() {
        input.extend_from_slice(other);
        return;
    }
    let at = random.below(input.len());
    match random.below(11) {
        0 => input[at] ^= 1 << random.below(8),
        1 => input[at] = BYTES[random.below(BYTES.len())],
        2 => input[at] = random.byte(),
        3 => input.insert(at, random.byte()),
        4 => insert(input, at, random.pick(WORDS)),
        5 => insert(input, at, random.pick(BROKEN)),
        6 => {
            let end = at + 1 + random.below((input.len() - at).min(32));
            input.drain(at..end.min(input.len()));
        }
        7 => {
            let end = (at + 1 + random.below(64)).min(input.len());
            let piece = input[at..end].to_vec();
            for _ in 0..1 + random.below(4) {
                insert(input, at, &piece);
            }
        }
        8 => input.truncate(at),
        9 => {
            input.truncate(at);
            input.extend_from_slice(&other[random.below(other.len())..]);
        }
        _ => {
            let with = random.below(input.len());
            input.swap(at, with);
        }
    }
}

fn lines(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let mut starts = vec![0];
    starts.extend((1..input.len()).filter(|&at| matches!(input[at - 1], b'\n' | b'\r')));
    let at = starts[random.below(starts.len())];
    match random.below(6) {
        0 => {
            insert(input, at, random.pick(ENDS));
            insert(input, at, random.pick(LINES));
        }
        1 => insert(input, at, random.pick(ENDS)),
        2 => {
            let end = line_end(input, at);
            input.drain(at..end);
        }
        3 => {
            let line = input[at..line_end(input, at)].to_vec();
            let to = starts[random.below(starts.len())];
            insert(input, to, &line);
        }
        4 => {
            let from = random.below(other.len());
            let line = other[from..line_end(other, from)].to_vec();
            insert(input, at, &line);
        }
        _ => {
            let ends: Vec<_> = (0..input.len()).filter(|&at| matches!(input[at], b'\n' | b'\r')).collect();
            if !ends.is_empty() {
                let end = ends[random.below(ends.len())];
                input.splice(end..=end, random.pick(ENDS).iter().copied());
            }
        }
    }
}

fn line_end(text: &[u8], start: usize) -> usize {
    text[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(text.len(), |length| start + length + 1)
}

/// Puts `piece` into `input` at `at`.
pub fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}
