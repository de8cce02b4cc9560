use crate::scene::{
    LEGACY, Scene, code_of, config, error_of, initialize, input_required, legacy, modern, modern_as, notification,
    with_capabilities,
};
use sandwire_json::{Raw, find};
use sandwire_proto::{
    PeerInfo,
    server::{Machine, Progress},
};
use sandwire_types::{
    CacheHint, CacheScope, Era, ErrorCode, ErrorObject, KNOWN_VERSIONS, LoggingLevel, Method, ProtocolVersion, Reply,
    ResultKind, Side, Stamp,
};
use std::sync::Arc;

const ALL: [&str; 8] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
];

#[test]
fn what_is_not_declared_does_not_exist() {
    for (capabilities, offered) in [
        ("{}", &[][..]),
        (r#"{"tools":{}}"#, &ALL[..2]),
        (r#"{"prompts":{}}"#, &ALL[2..4]),
        (r#"{"resources":{}}"#, &ALL[4..7]),
        (r#"{"completions":{}}"#, &ALL[7..]),
    ] {
        let mut scene = Scene::new(with_capabilities(capabilities));
        for method in ALL {
            let asked = modern("1", method, "");
            if offered.contains(&method) {
                let key = scene.begin(&asked);
                scene.reply(key, "{}");
            } else {
                assert_eq!(code_of(&scene.ask(&asked)), -32601, "{method} with {capabilities}");
            }
        }
        let mut scene = Scene::legacy_with(with_capabilities(capabilities), "2025-11-25", "{}");
        for method in ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
            assert_eq!(code_of(&scene.ask(&legacy("1", method, ""))), -32601, "{method}");
        }
    }
}

#[test]
fn a_method_exists_if_and_only_if_the_capability_of_its_row_is_declared() {
    let all = r#"{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{},
        "tasks":{"list":{},"cancel":{}},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}"#;
    let exists = |version: ProtocolVersion, capabilities: &str, method: &str| {
        let mut scene = match version.era() {
            Era::Modern => Scene::new(with_capabilities(capabilities)),
            Era::Legacy => Scene::legacy_with(with_capabilities(capabilities), version.as_str(), "{}"),
        };
        let write = if version.era() == Era::Modern { modern } else { legacy };
        let said = scene.tell(&write("1", method, ""));
        said.iter().all(|answer| find(answer, "error").is_none() || code_of(answer) != -32601)
    };
    let mut gated = Vec::new();
    for method in Method::KNOWN.iter().filter(|method| method.is_request()) {
        for version in KNOWN_VERSIONS.iter().copied().filter(|version| method.may_send(Side::Client, *version)) {
            let name = method.as_str();
            assert!(exists(version, all, name), "{version} {name}");
            assert_eq!(exists(version, "{}", name), method.capability().is_none(), "{version} {name}");
            if method.capability().is_some() {
                gated.push(name);
            }
        }
    }
    gated.dedup();
    assert_eq!(gated.len(), 19, "{gated:?}");
}

#[test]
fn the_extension_declares_tasks() {
    let mut scene = Scene::new(with_capabilities(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#));
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        scene.begin(&modern(&format!("\"{method}\""), method, r#""taskId":"1""#));
    }
}

#[test]
fn methods_of_extensions_reach_an_endpoint_that_wants_them() {
    let mut config = config();
    config.custom_methods = true;
    let mut scene = Scene::new(config);
    let key = scene.begin(&modern("1", "acme/spin", ""));
    assert!(scene.reply(key, "{}")[0].contains(r#""resultType":"complete""#));
    scene.tell(&notification("acme/spun", ""));
    assert_eq!(scene.heard, ["acme/spun"]);
}

#[test]
fn a_legacy_answer_is_the_result_and_nothing_else() {
    for version in LEGACY {
        let mut scene = Scene::legacy(version);
        let key = scene.begin(&legacy("\"x\"", "prompts/list", ""));
        let mut reply = Reply::new(Raw::from_valid(r#"{"prompts":[]}"#));
        reply.stamp = Some(Box::new(Stamp::default()));
        assert_eq!(scene.finish(key, Ok(reply)), [r#"{"jsonrpc":"2.0","id":"x","result":{"prompts":[]}}"#]);
    }
}

#[test]
fn every_modern_answer_is_stamped() {
    for method in ALL {
        let mut scene = Scene::new(config());
        let key = scene.begin(&modern("1", method, ""));
        let answer = scene.reply(key, r#"{"x":1}"#).remove(0);
        let cached = !matches!(method, "tools/call" | "prompts/get" | "completion/complete");
        assert!(answer.contains(r#""resultType":"complete""#), "{answer}");
        assert!(answer.contains(r#""io.modelcontextprotocol/serverInfo":{"name":"scene""#), "{answer}");
        assert_eq!(answer.contains("ttlMs"), cached, "{answer}");
        assert_eq!(answer.contains("cacheScope"), cached, "{answer}");
    }
}

#[test]
fn a_cache_hint_of_the_handler_wins_and_input_required_has_none() {
    let mut scene = Scene::new(config());
    let key = scene.begin(&modern("1", "resources/read", ""));
    let hint = CacheHint { ttl_ms: 5, scope: CacheScope::Public };
    let reply = Reply::new(Raw::object()).stamped(Stamp { cache: Some(hint), ..Stamp::default() });
    let answer = scene.finish(key, Ok(reply.clone())).remove(0);
    assert!(answer.contains(r#""ttlMs":5,"cacheScope":"public""#), "{answer}");

    let key = scene.begin(&modern("2", "resources/read", ""));
    let answer = scene.finish(key, Ok(Reply { kind: ResultKind::InputRequired, ..reply })).remove(0);
    assert!(answer.contains("input_required") && !answer.contains("ttlMs"), "{answer}");
}

#[test]
fn input_is_required_only_where_the_version_can_say_so() {
    let mut scene = Scene::new(config());
    let key = scene.begin(&modern("1", "tools/list", ""));
    assert_eq!(code_of(&scene.finish(key, Ok(input_required("{}")))[0]), -32603);
    let mut scene = Scene::legacy("2025-11-25");
    let key = scene.begin(&legacy("1", "tools/call", ""));
    assert_eq!(code_of(&scene.finish(key, Ok(input_required("{}")))[0]), -32603);
}

#[test]
fn codes_that_one_era_lacks_become_those_it_has() {
    let not_found =
        || ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "gone").with_data(Raw::from_valid(r#"{"uri":"a:b"}"#));
    let mut scene = Scene::new(config());
    let key = scene.begin(&modern("1", "resources/read", ""));
    let answer = scene.finish(key, Err(not_found())).remove(0);
    assert_eq!(code_of(&answer), -32602);
    assert!(answer.contains("a:b"));
    let mut scene = Scene::legacy("2025-06-18");
    let key = scene.begin(&legacy("1", "resources/read", ""));
    assert_eq!(code_of(&scene.finish(key, Err(not_found()))[0]), -32002);
}

#[test]
fn notifications_are_never_answered() {
    for mut scene in [Scene::new(config()), Scene::modern(), Scene::legacy("2025-03-26")] {
        for method in
            ["notifications/initialized", "notifications/cancelled", "notifications/progress", "no/such", "tools/call"]
        {
            assert_eq!(scene.tell(&notification(method, "")), [""; 0], "{method}");
        }
        assert_eq!(scene.tell(r#"{"jsonrpc":"2.0","method":"x","params":7}"#), [""; 0]);
        assert_eq!(scene.tell(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#), [""; 0]);
        assert_eq!(scene.tell(r#"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"m"}}"#), [""; 0]);
        assert_eq!(scene.tell(r#"{"jsonrpc":"2.0","id":9,"result":7}"#), [""; 0]);
    }
}

#[test]
fn what_is_not_a_message_is_answered_and_the_connection_goes_on() {
    for mut scene in [Scene::new(config()), Scene::modern(), Scene::legacy("2025-11-25")] {
        for text in ["{", "{\"jsonrpc\":\"2.0\",\"id\":1,", "[1"] {
            assert_eq!(code_of(&scene.ask(text)), -32700, "{text}");
        }
        for text in ["", "not json", "nul", "\"a\u{0}b\"", "12:00 INFO started"] {
            assert_eq!(scene.tell(text), [""; 0], "{text}");
        }
        for text in [
            "7",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            "[]",
        ] {
            assert_eq!(code_of(&scene.ask(text)), -32600, "{text}");
        }
        let answer = scene.ask(r#"{"jsonrpc":"1.0","id":"mine","method":"ping"}"#);
        assert!(answer.contains(r#""id":"mine""#), "{answer}");
    }
}

#[test]
fn noise_is_answered_where_that_is_wanted() {
    let mut config = config();
    config.answers_noise = true;
    assert_eq!(code_of(&Scene::new(config).ask("not json")), -32700);
}

#[test]
fn an_unreadable_id_is_null_before_2025_11_25_and_left_out_from_then_on() {
    let answer = |scene: &mut Scene| {
        let answers = [scene.ask("{"), scene.ask(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#)];
        answers.map(|answer| find(&answer, "id").map(str::to_owned))
    };
    for version in LEGACY {
        let id = (version != "2025-11-25").then(|| "null".to_owned());
        assert_eq!(answer(&mut Scene::legacy(version)), [id.clone(), id], "{version}");
    }
    assert_eq!(answer(&mut Scene::modern()), [None, None]);
    assert_eq!(answer(&mut Scene::new(config())), [None, None], "nothing is agreed yet");
}

#[test]
fn an_exchange_without_a_session_promises_nothing_that_could_follow() {
    for version in LEGACY {
        let peer = PeerInfo::new(ProtocolVersion::parse(version).unwrap(), Raw::object());
        let mut scene = Scene::of(Machine::for_exchange(Arc::new(config()), Some(Arc::new(peer)), None));
        let opened = scene.ask(&initialize(version));
        let declared = r#""capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{},"logging":{}}"#;
        assert!(opened.contains(declared), "{opened}");
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let (code, message) = error_of(&scene.ask(&legacy("1", method, r#""uri":"a:b""#)));
            assert_eq!(code, -32601, "{version} {method}");
            assert!(message.contains("nothing can follow"), "{message}");
        }
    }
}

#[test]
fn batches_exist_in_one_version_only() {
    let batch = format!(
        "[{},{},{},{},7]",
        legacy("1", "ping", ""),
        legacy("2", "tools/list", ""),
        notification("notifications/progress", ""),
        initialize("2025-03-26").replace("\"id\":0", "\"id\":3"),
    );
    for version in LEGACY {
        let mut scene = Scene::legacy(version);
        let answers = scene.tell(&batch);
        if version == "2025-03-26" {
            assert_eq!(answers.len(), 3, "{answers:?}");
            assert_eq!(answers[0], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            assert_eq!(code_of(&answers[1]), -32600);
            assert_eq!(code_of(&answers[2]), -32600);
            assert_eq!(scene.calls.len(), 1);
        } else {
            assert_eq!(answers.len(), 1, "{version}");
            assert_eq!(code_of(&answers[0]), -32600);
        }
    }
    for mut scene in [Scene::modern(), Scene::new(config())] {
        assert_eq!(code_of(&scene.ask(&batch)), -32600);
    }
}

#[test]
fn progress_grows_and_ends_with_its_call() {
    let step = |progress| Progress { progress, total: Some(4.0), message: Some("m") };
    let with_token = modern_as("1", "tools/call", "", "{}", r#","progressToken":"t""#);
    let legacy_token = legacy("1", "tools/call", r#""_meta":{"progressToken":"t"}"#);
    for (mut scene, call) in [(Scene::modern(), with_token), (Scene::legacy("2024-11-05"), legacy_token)] {
        let key = scene.begin(&call);
        for progress in [1.0, 1.0, 0.5, 2.5, f64::NAN, f64::INFINITY, 2.500_000_1, 4.0] {
            scene.machine.progress(key, step(progress));
        }
        let told = scene.drain();
        let params = |n: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t","progress":{n},"total":4,"message":"m"}}}}"#
            )
        };
        assert_eq!(told, [params("1"), params("2.5"), params("4")]);
        assert_eq!(scene.reply(key, "{}").len(), 1);
        scene.machine.progress(key, step(5.0));
        assert_eq!(scene.drain(), [""; 0]);
    }
    let mut scene = Scene::modern();
    let key = scene.begin(&modern("1", "tools/call", ""));
    scene.machine.progress(key, step(1.0));
    assert_eq!(scene.drain(), [""; 0], "the client did not ask for progress");
}

fn log(scene: &mut Scene, key: sandwire_proto::server::CallKey, level: LoggingLevel) -> usize {
    scene.machine.log(key, level, Some("scene"), Raw::from_valid("7"));
    scene.drain().len()
}

#[test]
fn a_legacy_client_sets_the_level_of_logs() {
    let mut scene = Scene::legacy("2025-11-25");
    let key = scene.begin(&legacy("1", "tools/call", ""));
    assert_eq!(log(&mut scene, key, LoggingLevel::Debug), 0);
    assert_eq!(log(&mut scene, key, LoggingLevel::Info), 1);
    assert_eq!(
        scene.ask(&legacy("2", "logging/setLevel", r#""level":"error""#)),
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#
    );
    assert_eq!(log(&mut scene, key, LoggingLevel::Warning), 0);
    scene.machine.log(key, LoggingLevel::Alert, Some("scene"), Raw::from_valid("7"));
    assert_eq!(
        scene.drain(),
        [r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"alert","logger":"scene","data":7}}"#]
    );
    for level in ["", r#""level":"loud""#, r#""level":3"#] {
        assert_eq!(code_of(&scene.ask(&legacy("3", "logging/setLevel", level))), -32602);
    }
}

#[test]
fn a_modern_client_asks_for_logs_with_each_request() {
    let mut scene = Scene::modern();
    let silent = scene.begin(&modern("1", "tools/call", ""));
    let level = r#","io.modelcontextprotocol/logLevel":"warning""#;
    let loud = scene.begin(&modern_as("2", "tools/call", "", "{}", level));
    assert_eq!(log(&mut scene, silent, LoggingLevel::Emergency), 0);
    assert_eq!(log(&mut scene, loud, LoggingLevel::Notice), 0);
    assert_eq!(log(&mut scene, loud, LoggingLevel::Warning), 1);
    scene.reply(loud, "{}");
    assert_eq!(log(&mut scene, loud, LoggingLevel::Warning), 0);
    let unknown = modern_as("3", "tools/call", "", "{}", r#","io.modelcontextprotocol/logLevel":"loud""#);
    assert_eq!(code_of(&scene.ask(&unknown)), -32602);
}

#[test]
fn nothing_is_logged_by_a_server_that_did_not_declare_it() {
    let mut scene = Scene::legacy_with(with_capabilities(r#"{"tools":{}}"#), "2025-11-25", "{}");
    let key = scene.begin(&legacy("1", "tools/call", ""));
    assert_eq!(log(&mut scene, key, LoggingLevel::Emergency), 0);
}

#[test]
fn a_result_that_is_no_object_is_refused_in_words_for_the_author() {
    let legacy_call = legacy("1", "tools/call", r#""name":"x""#);
    let modern_call = modern("1", "tools/call", r#""name":"x""#);
    for value in ["null", "[]", r#""text""#, " 1", "true"] {
        let legacies = LEGACY.map(|version| (Scene::legacy(version), &legacy_call));
        for (mut scene, call) in legacies.into_iter().chain([(Scene::modern(), &modern_call)]) {
            let key = scene.begin(call);
            let answer = scene.reply(key, value).remove(0);
            let message = "the handler's result is no JSON object; the server's author has to give one";
            assert_eq!(error_of(&answer), (-32603, message.to_owned()), "{value}");
        }
    }
}
