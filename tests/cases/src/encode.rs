//! What a server of ours writes.

use crate::{
    servers::echo,
    stage::{Answerer, Caller, ERAS, MODERN, Said, VERSIONS},
};
use sandwire_json::Raw;
use sandwire_server::{Capability, Context, Schema, Server, ToolHandler};
use sandwire_types::model::{
    CallToolResult, ContentBlock, GetPromptResult, PromptMessage, ReadResourceResult, ResourceContents, Role,
    TextResourceContents, ToolAnnotations,
};
use serde::{Deserialize, Serialize};

/// The paths of the nulls in a message.
fn nulls(said: &Said) -> Vec<String> {
    fn walk(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Null => found.push(path.to_owned()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(item, path, found)),
            serde_json::Value::Object(members) => {
                members.iter().for_each(|(key, value)| walk(value, &format!("{path}/{key}"), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&said.at(""), "", &mut found);
    found
}

#[derive(Deserialize, Serialize, Schema)]
struct Weather {
    city: String,
    wind: Option<f64>,
}

fn embedded() -> ContentBlock {
    let text = TextResourceContents::new("file:///a", "inside");
    ContentBlock::Resource(sandwire_types::model::EmbeddedResource::new(ResourceContents::Text(text)))
}

/// A server whose every noun leaves out what it can.
fn sparse() -> Server {
    Server::builder("sparse", "1")
        .tool("weather", "", async |weather: Weather| weather)
        .tool("blocks", "", async || CallToolResult::new(vec![ContentBlock::text("x"), embedded()]))
        .resource("file:///a", "", async || {
            ReadResourceResult::new(vec![ResourceContents::Text(TextResourceContents::new("file:///a", "x"))])
        })
        .resource("file:///{name}", "", async |_: Named| "x")
        .prompt("p", "", async || GetPromptResult::new(vec![PromptMessage::new(Role::User, embedded())]))
        .build()
        .unwrap()
}

#[derive(Deserialize, Schema)]
struct Named {
    #[allow(dead_code)]
    name: String,
}

#[test]
fn b31_what_is_not_set_is_left_out() {
    for version in VERSIONS {
        let mut server = Answerer::new(sparse());
        server.version = version;
        let mut said = Vec::new();
        if version == MODERN {
            said.push(server.call("0", "server/discover", ""));
        } else {
            said.push(server.initialize("0", version, "{}"));
            server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
        for (method, params) in [
            ("tools/list", ""),
            ("tools/call", r#""name":"blocks""#),
            ("tools/call", r#""name":"nobody""#),
            ("resources/list", ""),
            ("resources/templates/list", ""),
            ("resources/read", r#""uri":"file:///a""#),
            ("resources/read", r#""uri":"nowhere:""#),
            ("prompts/list", ""),
            ("prompts/get", r#""name":"p""#),
            ("nothing/there", ""),
        ] {
            said.push(server.call("1", method, params));
        }
        for told in said {
            assert_eq!(nulls(&told), Vec::<String>::new(), "{version}: {}", told.0);
        }
        // What a tool itself gives is the tool's.
        let told = server.call("2", "tools/call", r#""name":"weather","arguments":{"city":"Bern"}"#);
        assert!(nulls(&told).iter().all(|path| path == "/result/structuredContent/wind"), "{}", told.0);
    }
    for version in ERAS {
        let mut client = Caller::open(version);
        let calls = [
            client.start(client.client.list_tools()).is_there(),
            client.start(client.client.call_tool("t", &())).is_there(),
            client.start(client.client.get_prompt("p", [])).is_there(),
        ];
        assert_eq!(calls, [false; 3]);
        for told in client.heard() {
            assert_eq!(nulls(&told), Vec::<String>::new(), "{version}: {}", told.0);
        }
    }
}

#[test]
fn b32_what_a_server_declares_is_an_object_each() {
    let servers = [
        (echo(), "tools"),
        (Server::builder("r", "1").resource("file:///a", "", async || "x").build().unwrap(), "resources"),
        (Server::builder("p", "1").prompt("p", "", async || "x").build().unwrap(), "prompts"),
        (Server::builder("l", "1").declare(Capability::Logging).build().unwrap(), "logging"),
        (Server::builder("nothing", "1").build().unwrap(), ""),
    ];
    for version in VERSIONS {
        for (endpoint, declared) in &servers {
            let mut server = Answerer::new(endpoint.clone());
            let told = match version {
                MODERN => server.call("0", "server/discover", ""),
                _ => server.initialize("0", version, "{}"),
            };
            let capabilities = told.at("/result/capabilities");
            for (name, value) in capabilities.as_object().unwrap() {
                assert!(
                    value.is_object() && value.as_object().unwrap().values().all(|it| it.is_boolean()),
                    "{}",
                    told.0
                );
                assert!(name == declared || declared.is_empty(), "{version}: {}", told.0);
            }
            assert!(declared.is_empty() || capabilities.get(declared).is_some(), "{version}: {}", told.0);
        }
    }
}

#[test]
fn b33_a_resource_that_is_included_is_one_object_deep() {
    let expected = r#"{"type":"resource","resource":{"uri":"file:///a","text":"inside"}}"#;
    let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
    for version in VERSIONS {
        let mut server = Answerer::open(version, sparse());
        let told = server.call("1", "prompts/get", r#""name":"p""#);
        assert_eq!(told.at("/result/messages/0/content"), expected, "{version}");
        let told = server.call("2", "tools/call", r#""name":"blocks""#);
        assert_eq!(told.at("/result/content/1"), expected, "{version}");
    }
}

#[test]
fn b48_every_modern_result_says_what_it_is_and_how_long_it_holds() {
    let mut server = Answerer::open(MODERN, sparse());
    let cacheable = [
        ("server/discover", ""),
        ("tools/list", ""),
        ("resources/list", ""),
        ("resources/templates/list", ""),
        ("resources/read", r#""uri":"file:///a""#),
        ("prompts/list", ""),
    ];
    for (method, params) in cacheable {
        let told = server.call("1", method, params);
        assert_eq!(told.at("/result/resultType"), "complete", "{method}");
        assert!(told.at("/result/ttlMs").as_u64().is_some(), "{method}: {}", told.0);
        assert!(["public", "private"].map(Into::into).contains(&told.at("/result/cacheScope")), "{method}: {}", told.0);
    }
    for (method, params) in [("tools/call", r#""name":"blocks""#), ("prompts/get", r#""name":"p""#)] {
        assert_eq!(server.call("1", method, params).at("/result/resultType"), "complete", "{method}");
    }
    // The old era has none of it.
    let mut server = Answerer::open("2025-11-25", sparse());
    for (method, params) in cacheable.into_iter().skip(1) {
        let told = server.call("1", method, params);
        assert!(["resultType", "ttlMs", "cacheScope"].iter().all(|key| !told.0.contains(key)), "{}", told.0);
    }
}

#[test]
fn b78_false_is_said_where_it_was_said() {
    let hints = r#"{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}"#;
    let hints: ToolAnnotations = sandwire_json::from_str(hints).unwrap();
    let quiet = ToolHandler::new("quiet", "", async |_: Context| "x").describe(|tool| tool.annotations = Some(hints));
    let server = Server::builder("quiet", "1").with(quiet).build().unwrap();
    for version in VERSIONS.into_iter().skip(1) {
        let mut answerer = Answerer::open(version, server.clone());
        let told = answerer.call("1", "tools/list", "").at("/result/tools/0/annotations");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert_eq!(told[hint], false, "{version}: {hint}");
        }
    }
    let failed = Server::builder("failed", "1").tool("not", "", async || {
        let mut result = CallToolResult::new(vec![]);
        result.is_error = Some(false);
        result
    });
    let mut answerer = Answerer::open(MODERN, failed.build().unwrap());
    assert_eq!(answerer.call("1", "tools/call", r#""name":"not""#).at("/result/isError"), false);
}

#[test]
fn b78_a_server_that_declares_no_changes_tells_none() {
    for version in ERAS {
        for declared in ["{}", r#"{"listChanged":false}"#, r#"{"listChanged":true}"#] {
            let info = Raw::from_valid(r#"{"name":"s","version":"1"}"#);
            let capabilities = Raw::parse(&format!(r#"{{"tools":{declared}}}"#)).unwrap();
            let announcer = Announcer {
                config: std::sync::Arc::new(sandwire_proto::server::Config::new(info, capabilities)),
                changes: std::sync::Arc::default(),
            };
            let changes = std::sync::Arc::clone(&announcer.changes);
            let mut server = Answerer::open(version, announcer);
            let declares = declared.contains("true");
            if version == MODERN {
                let told = server.call("9", "server/discover", "");
                assert_eq!(
                    told.at("/result/capabilities/tools"),
                    serde_json::from_str::<serde_json::Value>(declared).unwrap()
                );
                server.ask("1", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
                server.heard();
            }
            changes.announce(&sandwire_proto::server::Change::Tools);
            let told = server.heard();
            assert_eq!(told.len(), usize::from(declares), "{version}: {declared}: {told:?}");
        }
    }
}

/// A server that says what it is told to declare.
struct Announcer {
    config: std::sync::Arc<sandwire_proto::server::Config>,
    changes: std::sync::Arc<sandwire_io::Changes>,
}

impl sandwire_io::Endpoint for Announcer {
    fn config(&self) -> std::sync::Arc<sandwire_proto::server::Config> {
        std::sync::Arc::clone(&self.config)
    }

    fn changes(&self) -> Option<&sandwire_io::Changes> {
        Some(&self.changes)
    }

    fn call(&self, _: sandwire_io::Call) -> sandwire_io::Answer {
        sandwire_io::Answer::Ready(Ok(sandwire_types::Reply::new(Raw::from_valid(r#"{"tools":[]}"#))))
    }
}
