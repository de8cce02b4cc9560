//! What a handler can do while it runs: progress, logs, questions, and being cancelled.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ERAS, LEGACY, MODERN, run, run_asked, run_over};
use sandwire_server::types::model::{
    CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
};
use sandwire_server::types::{ErrorCode, ErrorObject, LoggingLevel, Method, Raw};
use sandwire_server::{Context, Elicited, Form, Schema, Server, ToolError};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Deserialize, Schema)]
struct Who {
    /// Your name
    name: String,
}

fn answer(method: &Method, params: &Raw) -> Result<Raw, ErrorObject> {
    Ok(Raw::from_valid(match method {
        Method::ElicitationCreate if params.as_str().contains("decline") => r#"{"action":"decline"}"#,
        Method::ElicitationCreate if params.as_str().contains("nonsense") => {
            r#"{"action":"accept","content":{"name":7}}"#
        }
        Method::ElicitationCreate => r#"{"action":"accept","content":{"name":"Ada"}}"#,
        Method::SamplingCreateMessage => {
            r#"{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m"}"#
        }
        Method::RootsList => r#"{"roots":[{"uri":"file:///work"}]}"#,
        other => return Err(ErrorObject::method_not_found(other)),
    }))
}

#[test]
fn progress_and_logs_reach_the_client_before_the_result() {
    let server = Server::builder("busy", "1.0")
        .tool("work", "", |ctx: &Context| {
            ctx.progress(1.0, 2.0, "half");
            ctx.log(LoggingLevel::Warning, "careful");
            ctx.log(LoggingLevel::Debug, "detail");
            ctx.log_from("db", LoggingLevel::Error, vec![1, 2]);
            ctx.progress(2.0, 2.0, None);
        })
        .build()
        .unwrap();
    for version in ERAS {
        let heard = run(&server, version, async |client| {
            let level = (version == MODERN).then_some(LoggingLevel::Warning);
            client.request_with(Method::ToolsCall, r#"{"name":"work"}"#, level).await.unwrap();
            client.heard().await
        });
        let all = heard.join("\n");
        assert!(all.contains(r#""progress":1,"total":2,"message":"half""#), "{all}");
        assert!(all.contains(r#""level":"warning","data":"careful""#) || all.contains(r#""data":"careful""#), "{all}");
        assert!(all.contains(r#"[1,2]"#) && all.contains(r#""db""#), "{all}");
        assert!(!all.contains("detail"), "{all}");
    }
}

#[test]
fn questions_are_answered_in_both_eras_by_the_same_handler() {
    let began = Arc::new(AtomicUsize::new(0));
    let booked = Arc::new(AtomicUsize::new(0));
    let (count, bookings) = (began.clone(), booked.clone());
    let server = Server::builder("asking", "1.0")
        .tool("greet", "", move |ctx: Context| {
            let (count, bookings) = (count.clone(), bookings.clone());
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                let ticket: usize = ctx.once("ticket", async { bookings.fetch_add(1, Ordering::Relaxed) + 41 }).await?;
                let who = ctx.elicit("who", Form::<Who>::new("Who are you?")).await?;
                let name = who.accepted().map(|who| who.name).unwrap_or_default();
                let message =
                    SamplingMessage::new(Role::User, vec![SamplingMessageContentBlock::from(TextContent::new("hi"))]);
                let sampled = ctx.sample("model", CreateMessageRequestParams::new(vec![message], 10)).await?;
                let roots = ctx.roots("roots").await?;
                Ok::<_, ToolError>(format!("{name} {ticket} {} {}", sampled.model, roots.len()))
            }
        })
        .build()
        .unwrap();
    // Only on a modern wire is the handler run again with the answers.
    for (link, version, runs) in [(false, LEGACY, 1), (false, MODERN, 1), (true, LEGACY, 1), (true, MODERN, 4)] {
        began.store(0, Ordering::Relaxed);
        booked.store(0, Ordering::Relaxed);
        let result = run_over(link, &server, version, answer, async |client| client.call("greet", "{}").await);
        assert_eq!(result, r#"{"content":[{"type":"text","text":"Ada 41 m 1"}]}"#);
        assert_eq!((began.load(Ordering::Relaxed), booked.load(Ordering::Relaxed)), (runs, 1), "{version:?}");
    }
}

#[test]
fn a_question_can_be_declined_or_answered_with_nonsense() {
    let server = Server::builder("asking", "1.0")
        .tool("declined", "", async |ctx: &Context| {
            let answer = ctx.elicit("q", Form::<Who>::new("decline this")).await?;
            Ok::<_, ToolError>(matches!(answer, Elicited::Declined))
        })
        .tool("nonsense", "", async |ctx: &Context| {
            ctx.elicit("q", Form::<Who>::new("nonsense")).await?;
            Ok::<_, ToolError>(())
        })
        .tool("visit", "", async |ctx: &Context| {
            let answer = ctx.elicit("q", Form::url("Sign in", "https://example.com/")).await?;
            Ok::<_, ToolError>(answer == Elicited::Accepted(()))
        })
        .build()
        .unwrap();
    for version in ERAS {
        run_asked(&server, version, answer, async |client| {
            assert!(client.call("declined", "{}").await.contains(r#""text":"true""#));
            assert!(client.call("visit", "{}").await.contains(r#""text":"true""#));
            let error = client.request(Method::ToolsCall, r#"{"name":"nonsense"}"#).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
            assert!(error.message.contains("name"), "{}", error.message);
        });
    }
}

#[test]
fn a_call_that_is_dropped_cancels_its_handler() {
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let cleaned = Arc::new(AtomicUsize::new(0));
    let (drops, cleans) = (dropped.clone(), cleaned.clone());
    let server = Server::builder("slow", "1.0")
        .tool("forever", "", move || {
            let guard = Guard(drops.clone());
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
        })
        .tool("tidy", "", move |ctx: Context| {
            let cleans = cleans.clone();
            async move {
                ctx.cancelled().await;
                cleans.fetch_add(1, Ordering::Relaxed);
            }
        })
        .tool("ping", "", async || "pong")
        .build()
        .unwrap();
    for version in ERAS {
        dropped.store(0, Ordering::Relaxed);
        cleaned.store(0, Ordering::Relaxed);
        run(&server, version, async |client| {
            for tool in ["forever", "tidy"] {
                let mut call = std::pin::pin!(client.call(tool, "{}"));
                let mut polls = 0;
                std::future::poll_fn(|cx| {
                    polls += 1;
                    assert!(call.as_mut().poll(cx).is_pending());
                    cx.waker().wake_by_ref();
                    if polls < 5 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
                })
                .await;
            }
            for _ in 0..3 {
                assert!(client.call("ping", "{}").await.contains("pong"));
            }
        });
        assert_eq!((dropped.load(Ordering::Relaxed), cleaned.load(Ordering::Relaxed)), (1, 1), "{version:?}");
    }
}

#[test]
fn capabilities_are_those_of_what_is_registered() {
    let declared = |server: &Server| server.config().capabilities().as_str().to_owned();
    let server = Server::builder("a", "1").tool("t", "", || ()).build().unwrap();
    assert_eq!(declared(&server), r#"{"tools":{"listChanged":true}}"#);
    let server = Server::builder("a", "1")
        .prompt("p", "", |_: &Context| "x")
        .declare(sandwire_server::Capability::Resources)
        .extension("x/y", Raw::object())
        .build()
        .unwrap();
    assert_eq!(
        declared(&server),
        r#"{"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"extensions":{"x/y":{}}}"#
    );
    let error = run(&server, MODERN, async |client| client.request(Method::ToolsList, "{}").await).unwrap_err();
    assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
}
