//! What the reader accepts, keeps and refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use sandwire_json::{Error, ErrorKind, Kind, MAX_DEPTH, Number, Raw, Reader, Writer, find, from_str, may_name, to_raw};

#[test]
fn texts_are_kept_as_they_came() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.10",
        "12345678901234567890123",
        "1e+30",
        "-0.0e-0",
        "\"\"",
        r#""a\u00e9\n\/\ud83d\ude00""#,
        "[]",
        "{}",
        r#"{ "b" : [ 1 , { } ] , "b" : 2 }"#,
        "\"é😀\u{7f}\u{2028}\"",
    ] {
        assert_eq!(Raw::parse(text).unwrap().as_str(), text);
        assert_eq!(Raw::parse(&format!(" \t\r\n{text}\n ")).unwrap().as_str(), text);
        let mut w = Writer::new();
        w.raw(text);
        assert_eq!(w.finish(), text);
    }
}

#[test]
fn malformed_texts_are_refused() {
    for text in [
        "",
        " ",
        "tru",
        "truee",
        "nul",
        "nulll",
        "fals",
        "True",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1.5.5",
        "1e5.5",
        "0x1",
        "1 2",
        "NaN",
        "Infinity",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\t\"",
        "\"\n\"",
        "\"\u{0}\"",
        r#""\ud800\u""#,
        r#""\ud800\u12""#,
        r#""\ud800\udg00""#,
        r#""\ud80""#,
        r#""\udc""#,
        r#""\ud800\""#,
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\" 1}",
        "{\"a\":}",
        "{1:2}",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "[1]]",
        "{}}",
        "//",
        "[1]//",
        "\u{feff}1",
        r#"{"a":tru}"#,
        r#"{"a":[nul]}"#,
    ] {
        let error = Raw::parse(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Syntax, "{text}");
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
    }
}

#[test]
fn nesting_is_bounded_however_it_is_read() {
    let nest = |levels: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    fn walk(r: &mut Reader<'_>) -> Result<(), Error> {
        match r.peek()? {
            Kind::Array => r.array(&mut walk),
            Kind::Object => r.object(&mut |_, r| walk(r)),
            _ => r.skip(),
        }
    }
    let limit = MAX_DEPTH as usize;
    for (open, inner, close) in
        [("[", "", "]"), ("[", "1", "]"), ("{\"a\":", "1", "}"), ("{\"a\":", "{}", "}"), ("[[{\"a\":", "[]", "}]]")]
    {
        let per_level = open.matches(['[', '{']).count();
        let inside = usize::from(inner == "{}" || inner == "[]");
        for levels in [1, (limit - inside) / per_level] {
            let text = nest(levels, open, inner, close);
            Raw::parse(&text).unwrap();
            walk(&mut Reader::new(&text)).unwrap();
        }
        for levels in [(limit - inside) / per_level + 1, 10_000, 1_000_000] {
            let text = nest(levels, open, inner, close);
            assert_eq!(Raw::parse(&text).unwrap_err().kind(), ErrorKind::Depth, "{levels} {open}");
            assert_eq!(walk(&mut Reader::new(&text)).unwrap_err().kind(), ErrorKind::Depth);
        }
        assert!(Raw::parse(&open.repeat(1_000_000)).is_err());
    }
}

#[test]
fn a_union_of_reading_and_skipping_counts_one_depth() {
    let inner = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let text = format!("[[{inner}]]");
    let mut r = Reader::new(&text);
    let error = r.array(&mut |r| r.array(&mut |r| r.raw().map(drop))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Depth);
}

#[test]
fn strings() {
    for (text, value) in [
        (r#""""#, ""),
        (r#""plain""#, "plain"),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\u0041\u00e9\u20ac\ud83d\ude00""#, "Aé€😀"),
        (r#""a long plain beginning \n and an end""#, "a long plain beginning \n and an end"),
        (r#""\u0000\u001f""#, "\0\u{1f}"),
    ] {
        assert_eq!(Reader::new(text).string().unwrap(), value);
        assert_eq!(from_str::<String>(to_raw(value).as_str()).unwrap(), value);
    }
    assert!(matches!(Reader::new("\"plain\"").string().unwrap(), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn half_a_surrogate_pair_is_kept_as_text_and_read_as_the_replacement_character() {
    for (text, value) in [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""\udc00""#, "\u{fffd}"),
        (r#""a\uDBFF""#, "a\u{fffd}"),
        (r#""\ud800\ud800""#, "\u{fffd}\u{fffd}"),
        (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
        (r#""\ud800x""#, "\u{fffd}x"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83dn\ud83d""#, "\u{fffd}n\u{fffd}"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud800\ud83d\ude00\ude00""#, "\u{fffd}😀\u{fffd}"),
        (r#""\ud83d\\""#, "\u{fffd}\\"),
    ] {
        assert_eq!(Raw::parse(text).unwrap().as_str(), text);
        assert!(serde_json::from_str::<Box<serde_json::value::RawValue>>(text).is_ok(), "{text}");
        assert_eq!(from_str::<String>(text).unwrap(), value);
        assert_eq!(sandwire_json::serde::from_str::<serde_json::Value>(text).unwrap(), value);
        let object = format!(r#"{{{text}:{text}}}"#);
        assert_eq!(Raw::parse(&object).unwrap().get(value).unwrap().as_str(), text);
        let mut w = Writer::new();
        w.begin_array();
        w.raw(text);
        w.end_array();
        assert_eq!(w.finish(), format!("[{text}]"));
    }
}

#[test]
fn every_place_of_a_special_byte_is_found() {
    for length in 0..40 {
        for at in 0..=length {
            for special in ['"', '\\', '\n', '\u{1f}', 'é', '\u{80}', '\u{ff}'] {
                let mut value = "x".repeat(length);
                value.insert(at, special);
                let text = to_raw(value.as_str());
                assert_eq!(serde_json::from_str::<String>(text.as_str()).unwrap(), value);
                assert_eq!(from_str::<String>(text.as_str()).unwrap(), value);
                assert_eq!(Raw::parse(text.as_str()).unwrap(), text);
            }
        }
    }
}

#[test]
fn numbers_keep_their_digits() {
    for text in ["1.10", "12345678901234567890123", "1E5", "-0", "9223372036854775808", "0.1e-7", "100"] {
        let number: Number = from_str(text).unwrap();
        assert_eq!(to_raw(&number).as_str(), text);
        assert_eq!(number.to_string(), text);
    }
    for (text, value) in [
        ("1.0", Some(1)),
        ("1e3", Some(1000)),
        ("1.5e1", Some(15)),
        ("10e-1", Some(1)),
        ("1.50e1", Some(15)),
        ("1e18", Some(10i64.pow(18))),
        ("-9223372036854775808", Some(i64::MIN)),
        ("-9223372036854775808.0", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("1.5", None),
        ("1e19", None),
        ("1e-1", None),
        ("0e99999999999999999999", Some(0)),
        ("1e99999999999999999999", None),
        ("0.0", Some(0)),
        ("-0", Some(0)),
        ("1000000000000000000000e-3", Some(10i64.pow(18))),
        ("1e-99999999999999999999", None),
        ("100.00", Some(100)),
    ] {
        assert_eq!(from_str::<Number>(text).unwrap().as_i64(), value, "{text}");
        assert_eq!(Reader::new(text).integer().ok(), value, "{text}");
    }
    assert_eq!(Number::from(u64::MAX).as_u64(), Some(u64::MAX));
    assert_eq!(Number::from(u64::MAX).to_string(), u64::MAX.to_string());
    assert_eq!(Number::from_f64(0.25).unwrap().as_f64(), 0.25);
    assert_eq!(Number::from_f64(f64::NAN), None);
}

#[test]
fn errors_name_the_member() {
    let mut r = Reader::new(r#"{"tools":[{"name":"a"},{"in\"put":{"x":5}}]}"#);
    let error = r
        .object(&mut |_, r| {
            r.array(&mut |r| {
                r.object(&mut |key, r| if key == "name" { Ok(()) } else { r.object(&mut |_, r| r.string().map(drop)) })
            })
        })
        .unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Type, "tools[1].in\"put.x"));
    assert_eq!(error.to_string(), "expected a string at tools[1].in\"put.x");
    assert_eq!(Raw::parse("[1,").unwrap_err().to_string(), "expected a value at byte 3");
}

#[test]
fn find_gives_the_first_member_of_that_name() {
    let text = r#"{"x":{"a":1},"\u0061":[2],"a":3,"z":tru}"#;
    assert_eq!(find(text, "a"), Some("[2]"));
    assert_eq!(find(text, "z"), None);
    assert_eq!(find("[]", "a"), None);
    assert_eq!(find("{}", "a"), None);
    assert_eq!(Raw::parse(r#"{"a":null}"#).unwrap().get("a"), Some(Raw::null()));
}

#[test]
fn names_are_found_in_whatever_form_they_are_written() {
    let names = ["_meta", "ttlMs"];
    for text in [
        r#"{"_meta":1}"#,
        r#"{"a":[{ "ttlMs" : 1 }]}"#,
        r#"{"a":"_metal"}"#,
        r#"{"\u005fmeta":1}"#,
        r#"{"a\\":1,"ttlMs":1}"#,
        "{\n\"ttlMs\":1}",
    ] {
        assert!(may_name(text, &names), "{text}");
    }
    for text in
        ["{}", "[]", r#"{"meta":1,"a_meta":{"b":"\"ttl\\"},"c":"\"_meta\""}"#, r#"{"tt":"lMs"}"#, r#"{"":"\n"}"#]
    {
        assert!(!may_name(text, &names), "{text}");
        assert!(!may_name(text, &[]));
    }
}

#[test]
fn writers_put_commas_where_they_belong() {
    let mut w = Writer::new();
    w.begin_object();
    w.members("{ }");
    w.members(r#"{"a":1}"#);
    w.key("b");
    w.begin_array();
    w.begin_object();
    w.end_object();
    w.begin_array();
    w.end_array();
    w.null();
    w.boolean(true);
    w.end_array();
    w.members("{\n\"c\":2,\"d\":3 }");
    w.key("e");
    w.integer(i64::MIN);
    w.end_object();
    assert_eq!(w.finish(), r#"{"a":1,"b":[{},[],null,true],"c":2,"d":3,"e":-9223372036854775808}"#);
}
