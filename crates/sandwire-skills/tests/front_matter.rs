//! Front matter, as people write it and as nobody should.

use sandwire_skills::{FrontMatterError, front_matter, is_name};

fn read(yaml: &str) -> Result<String, FrontMatterError> {
    front_matter(&format!("---\n{yaml}\n---\nText.\n")).map(|json| json.as_str().to_owned())
}

#[test]
fn values_have_the_types_of_the_core_schema() {
    for (yaml, json) in [
        ("name: refunds", r#"{"name":"refunds"}"#),
        (
            "a: 1\nb: -2.50\nc: 1e3\nd: 0x1F\ne: 0o17\nf: +7\ng: .5\nh: 007",
            r#"{"a":1,"b":-2.50,"c":1e3,"d":31,"e":15,"f":7,"g":0.5,"h":7}"#,
        ),
        ("a: 1.\nb: 123456789012345678901234567890", r#"{"a":1,"b":123456789012345678901234567890}"#),
        ("a: true\nb: False\nc: yes\nd: on", r#"{"a":true,"b":false,"c":"yes","d":"on"}"#),
        ("a: ~\nb:\nc: null", r#"{"a":null,"b":null,"c":null}"#),
        (
            "a: .inf\nb: .nan\nc: 1.2.3\nd: 1-2\ne: 2024-01-31\nf: 0x",
            r#"{"a":".inf","b":".nan","c":"1.2.3","d":"1-2","e":"2024-01-31","f":"0x"}"#,
        ),
        ("a: '1'\nb: \"true\"\nc: !!str 7", r#"{"a":"1","b":"true","c":"7"}"#),
        ("a: |\n  one\n  two\nb: >-\n  three\n  four", r#"{"a":"one\ntwo\n","b":"three four"}"#),
        ("a:\n  - 1\n  - b: c\nd: [x, {y: z}]", r#"{"a":[1,{"b":"c"}],"d":["x",{"y":"z"}]}"#),
        ("1: one\ntrue: two", r#"{"1":"one","true":"two"}"#),
        ("# nothing but a comment\na: b # and another", r#"{"a":"b"}"#),
        ("a: \"quote \\\" and \\u00e9\"", r#"{"a":"quote \" and é"}"#),
    ] {
        assert_eq!(read(yaml).as_deref(), Ok(json), "{yaml}");
    }
}

#[test]
fn it_stands_between_two_lines_at_the_beginning() {
    for text in ["---\r\na: b\r\n---\r\n", "\u{feff}---\na: b\n---", "--- \na: b\n---\t\nrest\n---\n"] {
        assert_eq!(front_matter(text).map(|json| json.as_str().to_owned()).as_deref(), Ok(r#"{"a":"b"}"#), "{text:?}");
    }
    for text in ["", "a: b", "---\na: b", "\n---\na: b\n---\n", "----\na: b\n---\n", "text\n---\na: b\n---\n"] {
        assert_eq!(front_matter(text), Err(FrontMatterError::Missing), "{text:?}");
    }
    assert_eq!(front_matter("---\n---\n"), Err(FrontMatterError::NotAnObject));
}

#[test]
fn what_is_no_object_or_could_be_anything_is_refused() {
    assert_eq!(read("- a\n- b"), Err(FrontMatterError::NotAnObject));
    assert_eq!(read("just a text"), Err(FrontMatterError::NotAnObject));
    assert_eq!(read("a: 1\na: 2"), Err(FrontMatterError::Twice("a".into())));
    for yaml in ["a: &x 1\nb: *x", "&x a: 1", "a: !tag 1", "a: !!int '1'", "? [a, b]\n: c", "a: &x [1]\nb: *x"] {
        assert_eq!(read(yaml), Err(FrontMatterError::Unsupported), "{yaml}");
    }
    for yaml in ["a: [1", "a: \"open", "a: b: c", "a: {b", "%YAML"] {
        assert!(
            matches!(read(yaml), Err(FrontMatterError::Malformed { .. } | FrontMatterError::NotAnObject)),
            "{yaml}: {:?}",
            read(yaml)
        );
    }
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let deep = format!("a: {}{}", "[".repeat(5000), "]".repeat(5000));
    let nested: String = (0..2000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let laughs = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]";
    let long = format!("a: {}", "x".repeat(70_000));
    for yaml in [deep.as_str(), nested.as_str(), laughs, long.as_str()] {
        assert!(read(yaml).is_err());
    }
}

#[test]
fn names_are_lower_case_words_joined_by_hyphens() {
    for name in ["a", "git-workflow", "pdf2text", &"a".repeat(64)] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "-a", "a-", "a--b", "A", "a_b", "a b", "é", "a/b", &"a".repeat(65)] {
        assert!(!is_name(name), "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn json_is_front_matter_too(values in proptest::collection::btree_map("[a-z]{1,8}", ".{0,20}", 0..6)) {
        let values: std::collections::BTreeMap<_, String> =
            values.into_iter().map(|(key, value): (String, String)| (key, value.chars().filter(|c| !c.is_control() && !matches!(*c, '\u{feff}' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')).collect())).collect();
        let json = serde_json::to_string(&values).expect("JSON");
        if let Ok(read) = read(&json) {
            proptest::prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&read).expect("JSON"), serde_json::json!(values));
        }
    }

    #[test]
    fn nothing_panics(text in ".{0,200}") {
        let _ = read(&text);
    }
}
