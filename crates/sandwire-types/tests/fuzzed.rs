//! The fuzz bodies, on official examples with damage and on values made from the tables.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod spec;

use proptest::prelude::*;
use sandwire_types::fuzzing;
use sandwire_types::model::{params_type, result_type};
use sandwire_types::*;
use spec::generate::Generator;

fn sample(seed: u64) -> String {
    let mut generator = Generator::new(seed);
    generator.density = seed % 11;
    let method = &Method::KNOWN[(seed % Method::KNOWN.len() as u64) as usize];
    let params = params_type(method).map(|kind| generator.value(&kind)).unwrap();
    let result = result_type(method).map_or(Raw::object(), |kind| generator.value(&kind));
    let name = method.as_str();
    match seed % 7 {
        0 => format!(r#"{{"jsonrpc":"2.0","id":{seed},"method":"{name}","params":{params}}}"#),
        1 => format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":{params}}}"#),
        2 => format!(r#"{{"jsonrpc":"2.0","id":"{seed}","result":{result}}}"#),
        3 => format!(
            r#"[{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"","data":{result}}}}},{{"jsonrpc":"2.0","id":0,"result":{result}}}]"#
        ),
        4 => format!(
            r#"{{"jsonrpc":"2.0","id":1.0,"method":"{name}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"progressToken":7,"x":{result}}},"rest":{params}}}}}"#
        ),
        5 => params.to_string(),
        _ => result.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole(seed in any::<u64>()) {
        let text = sample(seed);
        fuzzing::wire(text.as_bytes());
        fuzzing::model(text.as_bytes());
    }

    #[test]
    fn damaged(seed in any::<u64>(), at in any::<prop::sample::Index>(), what in "[\\[\\]{}\",:0-9tfn\\\\eE.+ -]{0,3}", cut in 0usize..4) {
        let mut text = sample(seed).into_bytes();
        let at = at.index(text.len() + 1);
        let end = (at + cut).min(text.len());
        text.splice(at..end, what.bytes());
        fuzzing::wire(&text);
        fuzzing::model(&text);
    }

    #[test]
    fn spliced(one in any::<u64>(), other in any::<u64>(), at in any::<prop::sample::Index>(), from in any::<prop::sample::Index>()) {
        let (one, other) = (sample(one).into_bytes(), sample(other).into_bytes());
        let mut text = one[..at.index(one.len() + 1)].to_vec();
        text.extend_from_slice(&other[from.index(other.len() + 1)..]);
        fuzzing::wire(&text);
        fuzzing::model(&text);
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        fuzzing::wire(&bytes);
        fuzzing::model(&bytes);
    }
}

#[test]
fn damaged_examples() {
    let Some(spec) = spec::directory() else { return };
    for directory in std::fs::read_dir(spec.join("schema/2026-07-28/examples")).unwrap() {
        for file in std::fs::read_dir(directory.unwrap().path()).unwrap() {
            let text = std::fs::read(file.unwrap().path()).unwrap();
            for at in (0..text.len()).step_by(7) {
                let mut damaged = text.clone();
                damaged.remove(at);
                fuzzing::wire(&damaged);
                let mut doubled = text.clone();
                doubled.insert(at, text[at]);
                fuzzing::wire(&doubled);
            }
            fuzzing::wire(&text);
            fuzzing::model(&text);
        }
    }
}
