//! Trace context over every link, in every era.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "common/links.rs"]
mod links;

use links::{LINKS, connect, run};
use sandwire_client::Options;
use sandwire_io::testing::SimEnv;
use sandwire_server::types::trace::TraceContext;
use sandwire_server::types::{ProtocolVersion, Raw};
use sandwire_server::{Context, Server};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn a_handler_sees_the_trace_of_its_call() {
    let told = |ctx: &Context| match ctx.trace() {
        Some(trace) => [trace.parent(), trace.state().unwrap_or("-"), trace.baggage().unwrap_or("-")].join(" "),
        None => "none".to_owned(),
    };
    let other = |ctx: &Context| ctx.meta().map_or(String::new(), |meta| meta.as_str().to_owned());
    let server = Server::builder("s", "1").tool("trace", "", told).tool("meta", "", other).build().unwrap();
    let trace = TraceContext::new(PARENT).unwrap().with_state("a=b").unwrap().with_baggage("user=%C3%BC").unwrap();
    for link in LINKS {
        for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25, ProtocolVersion::V2024_11_05] {
            let env = SimEnv::new(1);
            let (client, driver, _) = connect(link, &server, &env, Options::new("c", "1").version(version));
            run(&env, vec![driver], async {
                let said = |result| format!("{result:?}");
                let result = said(client.call_tool("trace", &()).trace(&trace).await.unwrap());
                assert!(result.contains(&format!("{PARENT} a=b user=%C3%BC")), "{link:?} {version} {result}");
                assert!(said(client.call_tool("trace", &()).await.unwrap()).contains("none"));
                let wrong = Raw::from_valid(r#"{"traceparent":"00-x","com.example/kept":1}"#);
                let result = said(client.call_tool("trace", &()).meta(wrong.clone()).await.unwrap());
                assert!(result.contains("none"), "{link:?} {version} {result}");
                let result = said(client.call_tool("meta", &()).meta(wrong).trace(&trace).await.unwrap());
                assert!(result.contains("com.example/kept") && !result.contains("00-x"), "{link:?} {version} {result}");
            });
        }
    }
}
