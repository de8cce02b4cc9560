//! The envelope: what decodes, what is refused and with which answer, and what is written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use sandwire_types::json::find;
use sandwire_types::wire::{Incoming, Memo, decode, encode};
use sandwire_types::*;
use std::sync::Arc;

fn one(text: &str) -> Message {
    match decode(text, &mut Memo::new()) {
        Ok(Incoming::One(message)) => message,
        other => panic!("{text}: {other:?}"),
    }
}

fn refused(text: &str) -> WireError {
    match decode(text, &mut Memo::new()) {
        Err(error) => error,
        Ok(message) => panic!("{text}: {message:?}"),
    }
}

fn request(text: &str) -> Request {
    match one(text) {
        Message::Request(request) => request,
        other => panic!("{text}: {other:?}"),
    }
}

fn response(text: &str) -> Response {
    match one(text) {
        Message::Response(response) => response,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn ids_keep_type_and_value() {
    for (text, id) in [
        ("1", RequestId::Number(1)),
        ("1.0", RequestId::Number(1)),
        ("1e3", RequestId::Number(1000)),
        ("100e-2", RequestId::Number(1)),
        ("0", RequestId::Number(0)),
        ("-0", RequestId::Number(0)),
        ("-7", RequestId::Number(-7)),
        ("9223372036854775807", RequestId::Number(i64::MAX)),
        ("-9223372036854775808", RequestId::Number(i64::MIN)),
        ("9007199254740993", RequestId::Number(9_007_199_254_740_993)),
        (r#""1""#, RequestId::from("1")),
        (r#""""#, RequestId::from("")),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"ping"}}"#);
        assert_eq!(request(&text).id, id, "{text}");
    }
    assert_ne!(RequestId::Number(1), RequestId::from("1"));
}

#[test]
fn ids_that_are_none() {
    for id in ["null", "1.5", "true", "[]", "{}", "1e-1", "99999999999999999999", "1e999999999999999999999"] {
        let error = refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(error.code, ErrorCode::INVALID_REQUEST, "{id}");
        assert_eq!(error.id, None);
        assert!(error.wants_answer());
    }
}

#[test]
fn refusals() {
    let cases: &[(&str, ErrorCode, Option<i64>, bool)] = &[
        ("", ErrorCode::PARSE_ERROR, None, false),
        ("{", ErrorCode::PARSE_ERROR, None, false),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#, ErrorCode::PARSE_ERROR, None, false),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":tru}}"#, ErrorCode::PARSE_ERROR, None, false),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud8"}}"#, ErrorCode::PARSE_ERROR, Some(1), true),
        ("1", ErrorCode::INVALID_REQUEST, None, false),
        ("null", ErrorCode::INVALID_REQUEST, None, false),
        ("[]", ErrorCode::INVALID_REQUEST, None, false),
        ("{}", ErrorCode::INVALID_REQUEST, None, false),
        (r#"{"id":1,"method":"ping"}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":"2.0","id":1}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}}"#,
            ErrorCode::INVALID_REQUEST,
            Some(1),
            false,
        ),
        (r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"x"}"#, ErrorCode::INVALID_REQUEST, Some(1), false),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#, ErrorCode::INVALID_PARAMS, Some(1), false),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":3}}"#, ErrorCode::INVALID_PARAMS, Some(1), false),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":1.5}}}"#,
            ErrorCode::INVALID_PARAMS,
            Some(1),
            false,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{},"_meta":{}}}"#,
            ErrorCode::INVALID_PARAMS,
            Some(1),
            false,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            ErrorCode::INVALID_REQUEST,
            Some(1),
            true,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#, ErrorCode::INVALID_REQUEST, Some(1), true),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, ErrorCode::INVALID_REQUEST, Some(1), true),
        (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, ErrorCode::INVALID_REQUEST, Some(1), true),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":1}}"#, ErrorCode::INVALID_REQUEST, Some(1), true),
        (r#"{"jsonrpc":"2.0","result":{}}"#, ErrorCode::INVALID_REQUEST, None, true),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m","data":{}}}"#,
            ErrorCode::INVALID_REQUEST,
            Some(1),
            true,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, ErrorCode::INVALID_REQUEST, Some(1), true),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, ErrorCode::INVALID_REQUEST, Some(1), true),
    ];
    for (text, code, id, is_response) in cases {
        let error = refused(text);
        assert_eq!(error.code, *code, "{text}: {error}");
        assert_eq!(error.id, id.map(RequestId::Number), "{text}");
        assert_eq!(error.is_response, *is_response, "{text}");
    }
}

#[test]
fn a_malformed_notification_is_owed_nothing() {
    assert!(!refused(r#"{"jsonrpc":"2.0","method":"x","params":[]}"#).wants_answer());
}

#[test]
fn every_prefix_of_a_message_is_a_parse_error() {
    let text =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é\n","arguments":{"a":[1.5e3,true,null]}}}"#;
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert_eq!(refused(&text[..end]).code, ErrorCode::PARSE_ERROR, "{end}");
    }
}

#[test]
fn depth_is_bounded_without_recursion() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |levels: usize| {
            let inner = if open == "[" { "" } else { "1" };
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{inner}{}}}}}"#,
                open.repeat(levels),
                close.repeat(levels)
            )
        };
        assert_eq!(request(&nested(126)).id, RequestId::Number(1));
        for levels in [127, 10_000, 1_000_000] {
            let error = refused(&nested(levels));
            assert_eq!((error.code, error.id), (ErrorCode::INVALID_REQUEST, Some(RequestId::Number(1))));
        }
    }
    assert!(decode(&"[".repeat(1_000_000), &mut Memo::new()).is_err());
}

#[test]
fn batches_are_told_apart() {
    let text = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    let Ok(Incoming::Batch(items)) = decode(text, &mut Memo::new()) else { panic!() };
    assert!(matches!(items.as_slice(), [Ok(Message::Request(_)), Err(_), Ok(Message::Notification(_))]));
}

#[test]
fn params_and_results_keep_their_text() {
    let params = r#"{ "name":"a", "arguments":{"big":12345678901234567890123,"price":1.10,"\u0061":"\/"} }"#;
    let request = request(&format!(r#"{{"jsonrpc":"2.0","id":1,"params":{params},"method":"tools/call"}}"#));
    assert_eq!(request.params.unwrap().as_str(), params);
    assert_eq!(request.meta, RequestMeta::default());
    let response = response(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{params}}}"#));
    let reply = response.result.unwrap();
    assert_eq!(reply.value.as_str(), params);
    assert_eq!((reply.kind, reply.stamp), (ResultKind::Complete, None));
}

const ENVELOPE: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#;

#[test]
fn modern_requests_share_their_envelope() {
    let text = |id: i64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"_meta":{{{ENVELOPE},"progressToken":"t","io.modelcontextprotocol/logLevel":"info","traceparent":"00"}},"cursor":""}}}}"#
        )
    };
    let mut memo = Memo::new();
    let mut envelopes = Vec::new();
    for id in 0..2 {
        let Ok(Incoming::One(Message::Request(request))) = decode(&text(id), &mut memo) else { panic!() };
        assert_eq!(request.meta.progress_token, Some("t".into()));
        assert_eq!(request.meta.log_level, Some(LoggingLevel::Info));
        assert_eq!(request.meta.extra.as_ref().unwrap().as_str(), r#"{"traceparent":"00"}"#);
        let envelope = request.meta.envelope.clone().unwrap();
        assert_eq!(envelope.protocol_version(), Some(ProtocolVersion::V2026_07_28));
        assert_eq!(envelope.capabilities().as_str(), r#"{"sampling":{}}"#);
        envelopes.push(envelope);
        assert_eq!(encode(&Message::Request(request)), text(id));
    }
    assert!(Arc::ptr_eq(&envelopes[0], &envelopes[1]));
}

#[test]
fn a_remembered_envelope_is_compared_whole() {
    let mut memo = Memo::new();
    let mut read = |meta: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"_meta":{{{meta}}},"a":1}}}}"#);
        match decode(&text, &mut memo) {
            Ok(Incoming::One(Message::Request(request))) => request.meta,
            other => panic!("{other:?}"),
        }
    };
    let first = read(ENVELOPE);
    assert_eq!(read(ENVELOPE), first);
    let token = read(&format!(r#"{ENVELOPE},"progressToken":1"#));
    assert_eq!((token.progress_token, token.envelope), (Some(1.into()), first.envelope.clone()));
    let extra = read(&format!(r#"{ENVELOPE},"a":{{}}"#));
    assert_eq!(extra.extra.unwrap().as_str(), r#"{"a":{}}"#);
    let other = read(&ENVELOPE.replace("sampling", "roots"));
    assert_eq!(other.envelope.as_ref().unwrap().capabilities().as_str(), r#"{"roots":{}}"#);
    assert_eq!(read(&ENVELOPE.replace("sampling", "roots")), other);
    assert_eq!(read(ENVELOPE), first);
    assert_eq!(read(""), RequestMeta::default());
    assert_eq!(read(ENVELOPE), first);
}

#[test]
fn a_remembered_server_is_compared_whole() {
    let mut memo = Memo::new();
    let mut read = |meta: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"_meta":{meta},"a":1}}}}"#);
        match decode(&text, &mut memo) {
            Ok(Incoming::One(Message::Response(response))) => {
                let reply = response.result.unwrap();
                assert_eq!(reply.value.get("_meta").unwrap().as_str(), meta);
                let stamp = reply.stamp.map_or_else(Stamp::default, |stamp| *stamp);
                (stamp.server_info.map(|info| info.to_string()), stamp.subscription)
            }
            other => panic!("{other:?}"),
        }
    };
    const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"s"}"#;
    const SUBSCRIPTION: &str = r#""io.modelcontextprotocol/subscriptionId":1"#;
    let server = Some(r#"{"name":"s"}"#.to_owned());
    for _ in 0..2 {
        assert_eq!(read(&format!("{{{INFO},{SUBSCRIPTION}}}")), (server.clone(), Some(1.into())));
        assert_eq!(read(&format!("{{{INFO}}}")), (server.clone(), None));
        assert_eq!(read(&format!("{{{INFO}}}")), (server.clone(), None));
        assert_eq!(read(&format!(r#"{{"x":1,{INFO}}}"#)), (server.clone(), None));
        assert_eq!(read(&format!("{{{SUBSCRIPTION}}}")), (None, Some(1.into())));
        assert_eq!(read("{}"), (None, None));
        assert_eq!(read(&format!("{{{}}}", INFO.replace("\"s\"", "\"t\""))).0.unwrap(), r#"{"name":"t"}"#);
    }
}

#[test]
fn broken_envelopes_are_invalid_params() {
    for meta in [
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":5,"io.modelcontextprotocol/clientCapabilities":{}}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":"me"}"#,
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":1}"#,
    ] {
        let error =
            refused(&format!(r#"{{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{{"_meta":{meta}}}}}"#));
        assert_eq!((error.code, error.id), (ErrorCode::INVALID_PARAMS, Some("q".into())), "{meta}");
    }
}

#[test]
fn stamped_replies() {
    let value = Raw::parse(
        r#"{"_meta":{"x":1,"io.modelcontextprotocol/serverInfo":{"name":"old"}},"resultType":"complete","tools":[]}"#,
    )
    .unwrap();
    let stamp = Stamp {
        server_info: Some(Raw::parse(r#"{"name":"s","version":"1"}"#).unwrap()),
        cache: Some(CacheHint { ttl_ms: 5, scope: CacheScope::Public }),
        subscription: Some(7.into()),
    };
    let reply = Reply::new(value).stamped(stamp.clone());
    let text = encode(&Message::Response(Response::new(1.into(), Ok(reply))));
    assert_eq!(
        text,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":5,"cacheScope":"public","tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"io.modelcontextprotocol/subscriptionId":7,"x":1}}}"#
    );
    let reply = response(&text).result.unwrap();
    assert_eq!(reply.stamp.as_deref(), Some(&stamp));
    assert_eq!(encode(&Message::Response(Response::new(1.into(), Ok(reply)))), text);
}

#[test]
fn a_member_without_a_name_is_no_stamp() {
    for (info, subscription) in [(true, false), (false, true), (true, true), (false, false)] {
        let stamp = Stamp {
            server_info: info.then(Raw::object),
            subscription: subscription.then(|| 7.into()),
            ..Stamp::default()
        };
        let value = Raw::parse(r#"{"":1,"_meta":{"":2,"x":3}}"#).unwrap();
        let text = encode(&Message::Response(Response::new(1.into(), Ok(Reply::new(value).stamped(stamp)))));
        let result = find(&text, "result").unwrap();
        assert_eq!(find(result, ""), Some("1"), "{text}");
        assert_eq!(find(find(result, "_meta").unwrap(), ""), Some("2"), "{text}");
    }
}

#[test]
fn senseless_cache_hints_say_do_not_keep() {
    for ttl in ["-1", "1.5", "null", "\"x\"", "99999999999999999999"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"ttlMs":{ttl},"cacheScope":"everyone"}}}}"#);
        let cache = response(&text).result.unwrap().stamp.unwrap().cache;
        assert_eq!(cache, Some(CacheHint { ttl_ms: 0, scope: CacheScope::Private }), "{ttl}");
    }
}

#[test]
fn unreadable_ids_are_null_before_2025_11_25_and_absent_since() {
    let absent = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#;
    let null = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#;
    for version in KNOWN_VERSIONS {
        let expected = if *version >= ProtocolVersion::V2025_11_25 { absent } else { null };
        let answer = WireError::new(ErrorCode::PARSE_ERROR, "no").into_response(Some(*version));
        assert_eq!(encode(&Message::Response(answer.clone())), expected);
        assert_eq!(one(expected), Message::Response(answer));
    }
    let unknown = WireError::new(ErrorCode::PARSE_ERROR, "no").into_response(None);
    assert_eq!(encode(&Message::Response(unknown)), absent);
}

#[test]
fn one_byte_order_mark_is_passed_over() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(one(&format!("\u{feff}{text}")), one(text));
    assert!(matches!(decode(&format!("\u{feff}[{text}]"), &mut Memo::new()), Ok(Incoming::Batch(_))));
    for text in [format!("\u{feff}\u{feff}{text}"), format!(" \u{feff}{text}"), "\u{feff}".into()] {
        assert_eq!(refused(&text).code, ErrorCode::PARSE_ERROR);
    }
}

#[test]
fn half_a_surrogate_pair_passes_as_it_came() {
    let envelope = format!(r#""_meta":{{{ENVELOPE},"x\ud83d":"\udc00"}}"#);
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud83d","\ud800":["\udfff"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","\ud800":"cut \ud83d"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":"\udc00"}}"#,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{envelope},"\ud800":"\ud83d"}}}}"#),
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\ud83d","_meta":{"io.modelcontextprotocol/subscriptionId":1,"\ud800":2}}}"#,
    ] {
        assert_eq!(encode(&one(text)), text);
    }
}

#[test]
fn a_message_without_an_object_is_sent_for_the_peer_to_refuse() {
    let envelope = || one(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"_meta":{{{ENVELOPE}}}}}}}"#));
    for value in ["[1]", "\"text\"", "7", "null"] {
        let value = Raw::parse(value).unwrap();
        let Message::Request(mut request) = envelope() else { panic!() };
        request.params = Some(value.clone());
        let mut legacy = Request::new(1, Method::ToolsCall);
        legacy.meta.progress_token = Some(1.into());
        legacy.params = Some(value.clone());
        let notification =
            Notification { subscription: Some(1.into()), ..Notification::new(Method::Progress, Some(value.clone())) };
        let reply = Reply::new(value.clone()).stamped(Stamp::default());
        for (message, member) in [
            (Message::Request(request), "params"),
            (Message::Request(legacy), "params"),
            (Message::Notification(notification), "params"),
            (Message::Response(Response::new(1.into(), Ok(reply))), "result"),
        ] {
            assert_eq!(find(&encode(&message), member), Some(value.as_str()));
        }
    }
}

#[test]
fn nothing_is_left_out_of_what_is_nested_too_deep_to_be_taken_apart() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for (value, rest) in [
        (format!(r#"{{"a":1,"b":{deep},"c":2}}"#), format!(r#","a":1,"b":{deep},"c":2"#)),
        (format!(r#"{{"a":1,"_meta":{deep},"c":2 }}"#), format!(r#","a":1,"_meta":{deep},"c":2 "#)),
        (format!(r#"{{"a":1,"_meta":{{"b":2}},"c":{deep}}}"#), format!(r#","a":1,"c":{deep},"_meta":{{"b":2}}"#)),
    ] {
        let reply = Reply::new(Raw::from_valid(value)).stamped(Stamp::default());
        assert_eq!(
            encode(&Message::Response(Response::new(1.into(), Ok(reply)))),
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete"{rest}}}}}"#)
        );
    }
}

#[test]
fn members_that_a_stamp_replaces_are_found_wherever_they_stand() {
    let stamp = Stamp { cache: Some(CacheHint { ttl_ms: 1, scope: CacheScope::Private }), ..Stamp::default() };
    for (value, rest) in [
        (r#"{}"#, ""),
        (r#"{"resultType":"x"}"#, ""),
        (r#"{"ttlMs":5,"cacheScope":"public","resultType":"x"}"#, ""),
        (r#"{"a":1,"ttlMs":5,"b" : 2 , "c":3,"cacheScope":1}"#, r#","a":1,"b" : 2 , "c":3"#),
        (r#"{ "ttlMs":5,"a":{"ttlMs":6},"resultType":"x","b":"\u0041" }"#, r#","a":{"ttlMs":6},"b":"\u0041""#),
        (r#"{"\u0074tlMs":5,"a":1}"#, r#","a":1"#),
    ] {
        let reply = Reply::new(Raw::parse(value).unwrap()).stamped(stamp.clone());
        assert_eq!(
            encode(&Message::Response(Response::new(1.into(), Ok(reply)))),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","ttlMs":1,"cacheScope":"private"{rest}}}}}"#
            )
        );
    }
}

#[test]
fn a_message_is_one_line() {
    let mut request = Request::new(1, Method::ToolsCall);
    request.params = Some(Raw::parse("{\n  \"a\": \"x\\ny\",\r\n  \"b\": [\n1]\n}").unwrap());
    let text = encode(&Message::Request(request));
    assert!(!text.contains(['\n', '\r']), "{text}");
    assert!(text.contains(r#""x\ny""#));
}

#[test]
fn notifications_of_a_subscription() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":"l","x":1}}}"#;
    let message = one(text);
    let Message::Notification(notification) = &message else { panic!() };
    assert_eq!(notification.subscription, Some("l".into()));
    assert_eq!(encode(&message), text);
}
