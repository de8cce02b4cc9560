//! Bodies of the fuzz targets: each takes any bytes and checks what must hold for all of them.

mod client;

pub use client::client_machine;

use crate::http::{
    ParamHeaders, param_headers,
    sse::{DecodeError, Decoder, Event, encode},
};
use sandwire_json::Raw;

/// Decodes any bytes as an event stream: however they are cut, the same events come out, and each can be encoded.
pub fn sse(data: &[u8]) {
    let Some((size, bytes)) = data.split_first() else { return };
    let decode = |size: usize| {
        let mut decoder = Decoder::new(64);
        let mut events: Vec<Result<Event, DecodeError>> = Vec::new();
        for chunk in bytes.chunks(size.max(1)) {
            decoder.push(chunk);
            events.extend(std::iter::from_fn(|| decoder.next()));
        }
        events
    };
    let whole = decode(bytes.len());
    assert_eq!(decode(usize::from(*size)), whole, "cutting changed what was decoded");
    for event in whole.into_iter().flatten() {
        let mut decoder = Decoder::new(1024);
        decoder.push(encode(&event).as_bytes());
        assert_eq!(decoder.next(), Some(Ok(event)), "an event did not survive encoding");
    }
}

/// Reads any text as a header value, a tool schema and a list of tools.
pub fn headers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let encoded = param_headers::encode_value(&text);
    assert!(encoded.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "a field has a byte it cannot have");
    assert_eq!(param_headers::decode_value(&encoded).as_deref(), Ok(&*text));
    // Any other value is decoded or refused.
    let _ = param_headers::decode_value(&text);
    if let Ok(params) = param_headers::annotations(&text) {
        for param in params {
            let _ = param.value(&text);
        }
    }
    if let Ok(result) = Raw::parse(&text) {
        let mut learned = ParamHeaders::new();
        if let Some(kept) = learned.learn(&result, &mut Vec::new()) {
            assert!(Raw::parse(kept.as_str()).is_ok(), "a list became invalid by leaving tools out");
        }
        let mut headers = crate::http::Headers::new();
        learned.mirror(&text, &mut headers);
    }
}
