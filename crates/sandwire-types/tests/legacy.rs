//! The four legacy versions: goldens of what each is sent, and the conversions one by one.
//!
//! `goldens/newest.json` holds results and parameters with everything that any version has;
//! `goldens/<version>.json` holds what a peer of that version is sent. `SANDWIRE_BLESS=1` writes them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod spec;

use std::path::{Path, PathBuf};

use sandwire_types::fuzzing::{NOUNS, canonical};
use sandwire_types::json::{Reader, Writer};
use sandwire_types::wire::{legacy, modern};
use sandwire_types::*;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(format!("{name}.json"))
}

/// The members of a golden file: `result tools/list` and the like.
fn members(text: &str) -> Vec<(String, Raw)> {
    let mut members = Vec::new();
    Reader::new(text)
        .object(&mut |key, r| {
            members.push((key.to_owned(), Raw::parse(r.raw()?)?));
            Ok(())
        })
        .unwrap();
    members
}

fn lowered(version: ProtocolVersion, name: &str, value: &Raw) -> Option<Raw> {
    let mut words = name.split(' ');
    let (what, method) = (words.next().unwrap(), Method::from(words.next().unwrap()));
    assert!(method.facts().is_some(), "{method}");
    if !method.may_send(Side::Client, version) && !method.may_send(Side::Server, version) {
        return None;
    }
    Some(match (what, version.era()) {
        ("result", Era::Legacy) => legacy::lower_result(version, &method, value),
        ("params", Era::Legacy) => legacy::lower_params(version, &method, value),
        ("result", Era::Modern) => modern::lower_result(&method, value),
        _ => modern::lower_params(&method, value),
    })
}

#[test]
fn goldens() {
    let newest = members(&std::fs::read_to_string(golden("newest")).unwrap());
    for version in KNOWN_VERSIONS.iter().copied() {
        let mut w = Writer::new();
        w.begin_object();
        for (name, value) in &newest {
            if let Some(lowered) = lowered(version, name, value) {
                w.key(name);
                w.raw(lowered.as_str());
            }
        }
        w.end_object();
        let text = w.finish();
        let file = golden(version.as_str());
        if std::env::var_os("SANDWIRE_BLESS").is_some() {
            let lines: Vec<_> = members(&text).iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
            std::fs::write(&file, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap();
        assert_eq!(canonical(&text), canonical(&expected), "{}", file.display());
    }
}

#[test]
fn goldens_are_what_the_schemas_say_and_come_back() {
    let Some(spec) = spec::directory() else { return };
    for version in HANDSHAKE_VERSIONS.iter().copied() {
        let schemas = spec::Schemas::load(&spec, version);
        for (name, value) in members(&std::fs::read_to_string(golden(version.as_str())).unwrap()) {
            let mut words = name.split(' ');
            let (what, method) = (words.next().unwrap(), Method::from(words.next().unwrap()));
            let noun = if what == "result" {
                let noun = spec::result_noun(&method).unwrap();
                schemas.assert_valid(noun, value.as_str());
                noun.to_owned()
            } else {
                let call = spec::call_noun(&method).unwrap();
                let id = if method.is_request() { r#""id":1,"# } else { "" };
                let text = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{value}}}"#);
                schemas.assert_valid(call, &text);
                format!("{call}Params")
            };
            if let Some((_, codec)) = NOUNS.iter().find(|(name, _)| *name == noun) {
                assert_eq!(
                    canonical(codec(value.as_str()).unwrap().as_str()),
                    canonical(value.as_str()),
                    "{version} {noun}"
                );
            }
        }
    }
}

fn raw(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

fn result(version: ProtocolVersion, method: Method, text: &str) -> String {
    legacy::lower_result(version, &method, &raw(text)).to_string()
}

fn params(version: ProtocolVersion, method: Method, text: &str) -> String {
    legacy::lower_params(version, &method, &raw(text)).to_string()
}

#[test]
fn what_is_old_already_is_shared_and_not_copied() {
    let text = raw(r#"{ "content":[{"type":"text","text":"1.10"},{"type":"hologram"}], "more":1.10 }"#);
    for version in HANDSHAKE_VERSIONS {
        let lowered = legacy::lower_result(*version, &Method::ToolsCall, &text);
        assert!(std::ptr::eq(lowered.as_str(), text.as_str()));
    }
}

#[test]
fn empty_results_are_empty() {
    for method in [Method::Ping, Method::LoggingSetLevel, Method::ResourcesSubscribe, Method::ResourcesUnsubscribe] {
        for version in HANDSHAKE_VERSIONS {
            let text = r#"{"resultType":"complete","_meta":{"a":1}}"#;
            assert_eq!(result(*version, method.clone(), text), "{}");
        }
    }
}

#[test]
fn stamps_go_and_other_metadata_stays() {
    let text = r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"a":1},"tools":[],"ttlMs":5,"cacheScope":"public"}"#;
    assert_eq!(result(ProtocolVersion::V2025_11_25, Method::ToolsList, text), r#"{"_meta":{"a":1},"tools":[]}"#);
    let text = r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{}},"tools":[]}"#;
    assert_eq!(result(ProtocolVersion::V2024_11_05, Method::ToolsList, text), r#"{"tools":[]}"#);
}

#[test]
fn users_own_words_are_left_alone() {
    let text = r#"{"content":[],"structuredContent":{"resultType":"mine","ttlMs":1,"icons":[]}}"#;
    assert_eq!(result(ProtocolVersion::V2025_11_25, Method::ToolsCall, text), text);
    let text = r#"{"name":"x","arguments":{"requestState":"mine","_meta":{"inputResponses":1}}}"#;
    assert_eq!(params(ProtocolVersion::V2024_11_05, Method::ToolsCall, text), text);
}

#[test]
fn links_and_sound_become_text() {
    let text = r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"An a."},{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}"#;
    assert_eq!(result(ProtocolVersion::V2025_06_18, Method::ToolsCall, text), text);
    assert_eq!(
        result(ProtocolVersion::V2025_03_26, Method::ToolsCall, text),
        r#"{"content":[{"type":"text","text":"A: file:///a\nAn a."},{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}"#
    );
    assert_eq!(
        result(ProtocolVersion::V2024_11_05, Method::ToolsCall, text),
        r#"{"content":[{"type":"text","text":"A: file:///a\nAn a."},{"type":"text","text":"[audio/wav, not shown: this version of the protocol has no audio]"}]}"#
    );
}

#[test]
fn structured_content_that_is_no_object_is_wrapped() {
    for value in ["null", "1.10", "[1]", "\"x\"", "false"] {
        let text = format!(r#"{{"content":[],"structuredContent":{value}}}"#);
        for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2025_11_25] {
            let wrapped = format!(r#"{{"content":[],"structuredContent":{{"result":{value}}}}}"#);
            assert_eq!(result(version, Method::ToolsCall, &text), wrapped);
        }
        assert_eq!(modern::lower_result(&Method::ToolsCall, &raw(&text)), raw(&text));
    }
    let wrapped = legacy::wrap_structured(&raw(r#"{"content":[],"structuredContent":{"a":1}}"#));
    assert_eq!(wrapped.as_str(), r#"{"content":[],"structuredContent":{"result":{"a":1}}}"#);
}

#[test]
fn structured_content_is_told_as_text_to_versions_without_it() {
    let image = r#"{"type":"image","data":"","mimeType":"image/png"}"#;
    for version in [ProtocolVersion::V2024_11_05, ProtocolVersion::V2025_03_26] {
        for (content, expected) in [
            ("[]".to_owned(), r#"[{"type":"text","text":"{\"a\":\"b\",\"c\":1.10}"}]"#.to_owned()),
            (format!("[{image}]"), format!(r#"[{image},{{"type":"text","text":"{{\"a\":\"b\",\"c\":1.10}}"}}]"#)),
            (r#"[{"type":"text","text":"own"}]"#.to_owned(), r#"[{"type":"text","text":"own"}]"#.to_owned()),
        ] {
            let text = format!(r#"{{"content":{content},"structuredContent":{{"a":"b","c":1.10}},"isError":false}}"#);
            let lowered = format!(r#"{{"content":{expected},"isError":false}}"#);
            assert_eq!(result(version, Method::ToolsCall, &text), lowered, "{version}");
            assert_eq!(result(version, Method::ToolsCall, &lowered), lowered, "{version}");
        }
        for malformed in [r#"{"content":1,"structuredContent":2}"#, r#"{"structuredContent":[2]}"#] {
            let lowered = result(version, Method::ToolsCall, malformed);
            assert!(!lowered.contains("structuredContent"), "{lowered}");
        }
        assert_eq!(result(version, Method::ToolsCall, r#"{"content":[]}"#), r#"{"content":[]}"#);
    }
}

#[test]
fn output_schemas_that_are_no_objects_are_wrapped_and_their_pointers_follow() {
    let tool = |schema: &str| {
        format!(r#"{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}]}}"#)
    };
    for (schema, expected) in [
        (r#"{"type":"object","properties":{}}"#, r#"{"type":"object","properties":{}}"#),
        (
            r#"{"type":"object","properties":{"a":true,"b":false}}"#,
            r#"{"type":"object","properties":{"a":{},"b":{"not":{}}}}"#,
        ),
        (
            r#"{"type":"integer"}"#,
            r#"{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}"#,
        ),
        (
            r#"{"type":["object","null"]}"#,
            r#"{"type":"object","properties":{"result":{"type":["object","null"]}},"required":["result"]}"#,
        ),
        (
            r##"{"$schema":"s","anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#"},{"$ref":"#x"},{"$ref":"other.json#/a"}],"$defs":{"A":{"items":{"$ref":"#/$defs/A"}},"$ref":{"const":{"$ref":"#/kept"}}}}"##,
            r##"{"$schema":"s","type":"object","properties":{"result":{"anyOf":[{"$ref":"#/properties/result/$defs/A"},{"$ref":"#/properties/result"},{"$ref":"#x"},{"$ref":"other.json#/a"}],"$defs":{"A":{"items":{"$ref":"#/properties/result/$defs/A"}},"$ref":{"const":{"$ref":"#/kept"}}}}},"required":["result"]}"##,
        ),
        (
            r##"{"$id":"mine","items":{"$ref":"#/a"}}"##,
            r##"{"type":"object","properties":{"result":{"$id":"mine","items":{"$ref":"#/a"}}},"required":["result"]}"##,
        ),
    ] {
        for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2025_11_25] {
            assert_eq!(result(version, Method::ToolsList, &tool(schema)), tool(expected), "{schema}");
        }
        assert_eq!(legacy::wraps_output(&raw(schema)), expected.contains("\"result\""), "{schema}");
    }
}

#[test]
fn messages_have_one_block_before_2025_11_25() {
    let text = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"audio","data":"","mimeType":"audio/ogg"}],"_meta":{}},{"role":"assistant","content":{"type":"text","text":"b"}}],"maxTokens":1,"tools":[]}"#;
    assert_eq!(
        params(ProtocolVersion::V2025_06_18, Method::SamplingCreateMessage, text),
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"audio","data":"","mimeType":"audio/ogg"}},{"role":"assistant","content":{"type":"text","text":"b"}}],"maxTokens":1}"#
    );
    assert_eq!(params(ProtocolVersion::V2025_11_25, Method::SamplingCreateMessage, text), text);
    let answer = |content: &str| format!(r#"{{"role":"assistant","content":{content},"model":"m"}}"#);
    for (content, expected) in [
        (
            r#"[{"type":"image","data":"","mimeType":"image/png"}]"#,
            r#"{"type":"image","data":"","mimeType":"image/png"}"#,
        ),
        (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, r#"{"type":"text","text":"a\nb"}"#),
        ("[]", r#"{"type":"text","text":""}"#),
    ] {
        let lowered = result(ProtocolVersion::V2025_06_18, Method::SamplingCreateMessage, &answer(content));
        assert_eq!(lowered, answer(expected));
    }
}

#[test]
fn forms_of_2025_06_18() {
    let form =
        |fields: &str| format!(r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{{fields}}}}}}}"#);
    let text = form(
        r#""a":{"type":"string","default":"x"},"b":{"type":"string","title":"B","oneOf":[{"const":"x","title":"X"}]},"c":{"type":"array","items":{"anyOf":[{"const":"y","title":"Y"}]},"minItems":1,"default":["y"]},"d":{"type":"array","items":{"type":"string","enum":["z"]}},"e":{"type":"boolean","default":true}"#,
    );
    assert_eq!(
        params(ProtocolVersion::V2025_06_18, Method::ElicitationCreate, &text),
        form(
            r#""a":{"type":"string"},"b":{"type":"string","title":"B","enum":["x"],"enumNames":["X"]},"c":{"type":"string","enum":["y"],"enumNames":["Y"]},"d":{"type":"string","enum":["z"]},"e":{"type":"boolean","default":true}"#
        )
    );
    assert_eq!(params(ProtocolVersion::V2025_11_25, Method::ElicitationCreate, &text), text);
    let answer = r#"{"action":"accept","content":{"c":["y","z"],"e":true}}"#;
    assert_eq!(
        result(ProtocolVersion::V2025_06_18, Method::ElicitationCreate, answer),
        r#"{"action":"accept","content":{"c":"y, z","e":true}}"#
    );
}

#[test]
fn the_modern_era_is_not_sent_what_only_the_legacy_one_had() {
    let text = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}"#;
    let lowered = modern::lower_result(&Method::ToolsList, &raw(text));
    assert_eq!(lowered.as_str(), r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#);
    let text = r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u","elicitationId":"e"}}}}"#;
    assert_eq!(
        modern::lower_input(&raw(text)).as_str(),
        r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}}}"#
    );
}
