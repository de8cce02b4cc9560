//! The reader, the writer and the serde formats beside serde_json, on texts made at random.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use sandwire_json::fuzzing;
use serde_json::Value;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| f.is_finite().then(|| Value::from(f))),
        "[ -~é\u{0}-\u{20}\"\\\\😀]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-z\"\\\\é\n]{0,4}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_read_alike(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        fuzzing::reader(text.as_bytes());
        prop_assert!(sandwire_json::Raw::parse(&text).is_ok());
    }

    #[test]
    fn damaged_texts_are_judged_alike(value in value(), at in any::<prop::sample::Index>(), what in "[\\[\\]{}\",:0-9tfn\\\\eE.+ -]{0,2}", cut in 0usize..3) {
        let mut text = serde_json::to_string(&value).unwrap().into_bytes();
        let at = at.index(text.len() + 1);
        let end = (at + cut).min(text.len());
        text.splice(at..end, what.bytes());
        fuzzing::reader(&text);
    }

    #[test]
    fn noise_is_judged_alike(text in "[\\[\\]{}\",:0-9truefalsn\\\\eE.+ -]{0,24}") {
        fuzzing::reader(text.as_bytes());
    }

    #[test]
    fn escapes_are_judged_alike(inside in "(\\\\u[dD][89a-fA-F][0-9]{2}|\\\\u[0-9aA]{3,4}|\\\\n|\\\\|[u\"é😀]|d8){0,6}") {
        fuzzing::reader(format!("\"{inside}\"").as_bytes());
        fuzzing::reader(format!("{{\"{inside}\":1}}").as_bytes());
    }

    #[test]
    fn bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        fuzzing::reader(&bytes);
    }
}
