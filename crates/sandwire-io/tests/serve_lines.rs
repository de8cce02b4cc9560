//! A server whose client closes its own side first, as `printf … | server` does.
#![allow(missing_docs, clippy::unwrap_used)]

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use futures::{
    FutureExt,
    channel::oneshot,
    io::{self, AsyncWrite},
};
use sandwire_io::{Answer, Call, Endpoint, ServeDriver, TextLink, lines::Lines, serve, testing::SimEnv};
use sandwire_proto::{Limits, server};
use sandwire_types::{ErrorObject, Method, Raw, Reply};

/// A server with one tool, which waits until the test lets it go.
struct Slow {
    config: Arc<server::Config>,
    go: Mutex<Option<oneshot::Receiver<()>>>,
}

impl Endpoint for Slow {
    fn config(&self) -> Arc<server::Config> {
        self.config.clone()
    }

    fn call(&self, call: Call) -> Answer {
        let go = self.go.lock().unwrap().take();
        let asks = call.request.params.as_ref().is_some_and(|params| params.as_str().contains("ask"));
        Answer::Pending(Box::pin(async move {
            if asks {
                let asked = call.outlet.ask("roots", Method::RootsList, Raw::object()).await;
                return Err(ErrorObject::internal(asked.unwrap_err().to_string()));
            }
            go.unwrap().await.map_err(|_| ErrorObject::internal("let down"))?;
            Ok(Reply::new(Raw::from_valid(r#"{"content":[]}"#)))
        }))
    }
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl AsyncWrite for Written {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const OPENING: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n"
);
const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}"#;
const ASKING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask"}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#;

struct Scene {
    driver: ServeDriver,
    written: Written,
    go: Option<oneshot::Sender<()>>,
    env: SimEnv,
}

/// A server whose client sends an opening and `lines`, and then closes its side.
fn scene(lines: &str) -> Scene {
    let (go, wait) = oneshot::channel();
    let config =
        server::Config::new(Raw::from_valid(r#"{"name":"slow","version":"1"}"#), Raw::from_valid(r#"{"tools":{}}"#));
    let server = Slow { config: Arc::new(config), go: Mutex::new(Some(wait)) };
    let written = Written::default();
    let env = SimEnv::new(1);
    let input: &'static [u8] = format!("{OPENING}{lines}\n").leak().as_bytes();
    let limits = Limits::default();
    let link = TextLink::new(Lines::new(input, written.clone(), limits.max_message_bytes), limits);
    let driver = serve(Arc::new(server), Arc::new(env.clone()), Box::new(link));
    Scene { driver, written, go: Some(go), env }
}

impl Scene {
    /// Whether the connection is over.
    fn run(&mut self) -> bool {
        (0..8).any(|_| self.driver.poll_unpin(&mut Context::from_waker(Waker::noop())).is_ready())
    }

    fn answered(&self, id: u32) -> bool {
        self.written.text().contains(&format!(r#""id":{id},"#))
    }
}

#[test]
fn calls_under_way_are_answered_before_the_end() {
    let mut scene = scene(CALL);
    assert!(!scene.run());
    assert!(scene.answered(1) && !scene.answered(7));
    scene.go.take().unwrap().send(()).unwrap();
    assert!(scene.run());
    assert!(scene.written.text().ends_with("{\"content\":[]}}\n"), "{}", scene.written.text());
}

#[test]
fn what_is_answered_at_once_is_written_before_the_end() {
    let mut scene = scene(PING);
    assert!(scene.run());
    assert!(scene.answered(8));
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let mut scene = scene(CALL);
    assert!(!scene.run());
    scene.env.advance(29_000);
    assert!(!scene.run());
    scene.env.advance(1_001);
    assert!(scene.run());
    assert!(!scene.answered(7));
    drop(scene.driver);
    assert!(scene.go.take().unwrap().is_canceled());
}

#[test]
fn a_question_that_nobody_answers_any_more_fails() {
    let mut scene = scene(ASKING);
    assert!(scene.run());
    assert!(scene.written.text().contains("over before its question was answered"), "{}", scene.written.text());
}
