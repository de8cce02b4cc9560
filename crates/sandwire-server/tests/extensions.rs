//! Extensions over every link, and of clients that do not have them.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "common/links.rs"]
mod links;

use links::{LINKS, Link, connect, run};
use sandwire_client::{ErrorKind, Options};
use sandwire_io::testing::SimEnv;
use sandwire_json::find;
use sandwire_server::types::model::SubscriptionFilter;
use sandwire_server::types::{ErrorObject, Method, Notification, ProtocolVersion, Raw, Reply, ResultKind, split_meta};
use sandwire_server::{Context, MethodHandler, Problem, Published, Schema, Server};
use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::task::Poll;

const NOTES: &str = "com.example/notes";

#[derive(serde::Deserialize, Schema)]
struct Note {
    #[serde(rename = "noteId")]
    note_id: String,
}

#[derive(serde::Serialize, Schema)]
struct Length {
    length: usize,
}

fn server(heard: Arc<Mutex<Vec<String>>>) -> Server {
    let settings = |ctx: &Context| ctx.extension(NOTES).unwrap_or_else(Raw::object);
    let later = |kind: &'static str| {
        move || {
            let mut reply = Reply::new(Raw::from_valid(r#"{"until":7}"#));
            reply.kind = ResultKind::from(kind);
            reply
        }
    };
    Server::builder("notes", "1")
        .extension("com.example/other", Raw::object())
        .extension(NOTES, Raw::from_valid(r#"{"most":9}"#))
        .with(
            MethodHandler::new("notes/measure", |note: Note| Length { length: note.note_id.len() })
                .of(NOTES)
                .name_member("noteId"),
        )
        .with(MethodHandler::new("notes/settings", settings).of(NOTES))
        .method("notes/later", later("later"))
        .method("notes/never", later("never"))
        .method("echo/nothing", || ())
        .method("echo/fail", || Err::<(), _>(ErrorObject::invalid_params("no")))
        .listen_key(NOTES, "noteIds")
        .result_type(NOTES, "later")
        .on_notification(move |notification: &Notification, _| {
            heard.lock().unwrap().push(notification.method.as_str().to_owned());
        })
        .build()
        .unwrap()
}

fn options() -> Options {
    Options::new("tester", "1").version(ProtocolVersion::V2026_07_28)
}

fn declaring() -> Options {
    let options = options().extension(NOTES, Raw::from_valid(r#"{"least":1}"#)).unwrap();
    named(options)
}

fn named(options: Options) -> Options {
    options.result_type("later").name_member("notes/measure", "noteId")
}

fn note(id: &str) -> Option<Raw> {
    Some(Raw::from_valid(format!(r#"{{"noteId":{}}}"#, Raw::string(id).as_str())))
}

fn code(error: &sandwire_client::Error) -> i64 {
    error.code().unwrap_or_else(|| panic!("{error}")).0
}

/// Lets the drivers run once.
async fn turn_over() {
    let mut polled = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[test]
fn methods_are_answered_over_every_link() {
    for link in LINKS {
        let env = SimEnv::new(1);
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let (client, driver, direct) = connect(link, &server(heard.clone()), &env, declaring());
        run(&env, vec![driver], async {
            let measured = client.request("notes/measure", note("ünf")).await.unwrap();
            assert_eq!(find(measured.value.as_str(), "length"), Some("4"), "{link:?}");
            assert_eq!(measured.kind, ResultKind::Complete);
            let settings = client.request("notes/settings", None).await.unwrap();
            assert_eq!(find(settings.value.as_str(), "least"), Some("1"), "{link:?}");
            let later = client.request("notes/later", None).await.unwrap();
            assert_eq!((later.kind.as_str(), find(later.value.as_str(), "until")), ("later", Some("7")));
            let bad = client.request("notes/measure", None).await.unwrap_err();
            assert_eq!(code(&bad), -32602, "{bad}");
            let failed = client.request("echo/fail", None).await.unwrap_err();
            assert!(failed.to_string().contains("no"), "{failed}");
            let unknown = client.request("notes/unknown", None).await.unwrap_err();
            assert_eq!(code(&unknown), -32601, "{unknown}");
            client.notify(Notification::new(Method::from("notifications/notes/read"), None)).unwrap();
            client.request("echo/nothing", None).await.unwrap();
        });
        assert_eq!(*heard.lock().unwrap(), ["notifications/notes/read"], "{link:?}");
        if link == Link::Http {
            let heads = direct.heads.lock().unwrap();
            let name_of = |method: &str| {
                let head = heads.iter().find(|head| head.headers.get("Mcp-Method") == Some(method)).unwrap();
                head.headers.get("Mcp-Name").map(str::to_owned)
            };
            assert_eq!(name_of("notes/measure").as_deref(), Some("=?base64?w7xuZg==?="));
            assert_eq!(name_of("notes/settings"), None);
        }
    }
}

#[test]
fn who_did_not_declare_an_extension_is_told_what_to_declare() {
    for link in LINKS {
        let env = SimEnv::new(1);
        let (client, driver, _) = connect(link, &server(Arc::default()), &env, named(options()));
        run(&env, vec![driver], async {
            for (method, params) in [("notes/measure", note("x")), ("notes/settings", None), ("notes/later", None)] {
                let error = client.request(method, params).await.unwrap_err();
                assert_eq!(code(&error), -32021, "{link:?} {method}");
                let data = error.data().unwrap();
                assert_eq!(data.as_str(), r#"{"requiredCapabilities":{"extensions":{"com.example/notes":{}}}}"#);
            }
            let mut filter = SubscriptionFilter::new();
            filter.extra.insert("noteIds", Raw::from_valid("true"));
            let error = client.listen(filter).await.unwrap_err();
            assert_eq!(code(&error), -32021, "{link:?}");
            // What needs no extension is there.
            client.request("echo/nothing", None).await.unwrap();
        });
    }
}

#[test]
fn a_result_type_that_nobody_claimed_or_registered_is_refused() {
    let env = SimEnv::new(1);
    let options = || options().extension(NOTES, Raw::object()).unwrap();
    let (client, driver, _) = connect(Link::Pipe, &server(Arc::default()), &env, options());
    let (claimed, other, _) = connect(Link::Pipe, &server(Arc::default()), &env, options().result_type("never"));
    run(&env, vec![driver, other], async {
        let error = client.request("notes/later", None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        let error = claimed.request("notes/never", None).await.unwrap_err();
        assert_eq!(code(&error), -32603, "the server has no such type");
    });
}

#[test]
fn subscriptions_have_keys_of_extensions() {
    for link in LINKS {
        let env = SimEnv::new(1);
        let server = server(Arc::default());
        let (client, driver, _) = connect(link, &server, &env, declaring());
        let listen = |value: &str| {
            let mut filter = SubscriptionFilter::new();
            filter.extra.insert("noteIds", Raw::parse(value).unwrap());
            filter.extra.insert("unknown", Raw::from_valid("[7]"));
            let events = Arc::<Mutex<Vec<String>>>::default();
            let seen = events.clone();
            let request = client.listen(filter).on_event(move |event| {
                let params = event.params.map_or(String::new(), |params| split_meta(&params).0.as_str().to_owned());
                seen.lock().unwrap().push(format!("{} {params}", event.method));
            });
            (request, events)
        };
        let publish = |subject: Option<&str>| {
            server.publish(Published {
                key: "noteIds".into(),
                subject: subject.map(Into::into),
                method: Method::from("notifications/notes"),
                params: Some(Raw::from_valid(format!(r#"{{"about":{:?}}}"#, subject.unwrap_or("all")))),
                principal: None,
            });
        };
        let (all, everything) = listen("true");
        let (some, one) = listen(r#"["a","ä"]"#);
        let (none, nothing) = listen("false");
        let (wrong, _) = listen(r#"[1]"#);
        run(&env, vec![driver], async {
            assert_eq!(code(&wrong.await.unwrap_err()), -32602);
            let streams = futures_util::future::join3(all.into_future(), some.into_future(), none.into_future());
            let scene = async {
                for turn in 0..60 {
                    match turn {
                        20 => publish(Some("ä")),
                        25 => publish(Some("b")),
                        30 => publish(None),
                        _ => {}
                    }
                    turn_over().await;
                }
            };
            futures_util::future::select(std::pin::pin!(streams), std::pin::pin!(scene)).await;
        });
        let acknowledged = "notifications/subscriptions/acknowledged";
        let all = [
            &*format!(r#"{acknowledged} {{"notifications":{{"noteIds":true}}}}"#),
            r#"notifications/notes {"about":"ä"}"#,
            r#"notifications/notes {"about":"b"}"#,
            r#"notifications/notes {"about":"all"}"#,
        ];
        assert_eq!(*everything.lock().unwrap(), all, "{link:?}");
        let some = [&*format!(r#"{acknowledged} {{"notifications":{{"noteIds":["a","ä"]}}}}"#), all[1]];
        assert_eq!(*one.lock().unwrap(), some, "{link:?}");
        assert_eq!(*nothing.lock().unwrap(), [format!(r#"{acknowledged} {{"notifications":{{}}}}"#)], "{link:?}");
    }
}

#[test]
fn extensions_are_declared_beside_each_other() {
    let server = server(Arc::default());
    let declared = server.config().capabilities().get("extensions").unwrap();
    assert_eq!(declared.as_str(), r#"{"com.example/other":{},"com.example/notes":{"most":9}}"#);
    let again =
        Server::builder("s", "1").extension(NOTES, Raw::from_valid(r#"{"a":1}"#)).extension(NOTES, Raw::object());
    let again = again.build().unwrap();
    assert_eq!(again.config().capabilities().get("extensions").unwrap().as_str(), r#"{"com.example/notes":{}}"#);
}

#[test]
fn what_cannot_be_registered_is_named() {
    let builder = || Server::builder("s", "1");
    for (builder, subject) in [
        (builder().extension("notes", Raw::object()), "notes"),
        (builder().extension("1.com/notes", Raw::object()), "1.com/notes"),
        (builder().extension("com.example/", Raw::object()), "com.example/"),
        (builder().extension(NOTES, Raw::from_valid("1")), NOTES),
        (builder().method("tools/list", || ()), "tools/list"),
        (builder().method("", || ()), ""),
        (builder().with(MethodHandler::new("a/b", || ()).of(NOTES)), NOTES),
        (builder().listen_key(NOTES, "ids"), NOTES),
        (builder().result_type(NOTES, "later"), NOTES),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.subject(), subject);
        assert!(matches!(error.problem(), Problem::Extension(_)), "{error}");
    }
    let twice = builder().method("a/b", || ()).method("a/b", || ()).build().unwrap_err();
    assert_eq!(twice.problem(), &Problem::Duplicate);
    assert!(Options::new("c", "1").extension("notes", Raw::object()).is_err());
    assert!(Options::new("c", "1").extension(NOTES, Raw::from_valid("[]")).is_err());
}

#[test]
fn the_header_repeats_what_the_method_says() {
    let env = SimEnv::new(1);
    let server = server(Arc::default());
    // This client does not know of the name, so the server refuses what it sends.
    let options = options().extension(NOTES, Raw::object()).unwrap();
    let (client, driver, _) = connect(Link::Http, &server, &env, options);
    run(&env, vec![driver], async {
        let error = client.request("notes/measure", note("x")).await.unwrap_err();
        assert_eq!(code(&error), -32020, "{error}");
    });
}
