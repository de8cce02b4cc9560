use std::{
    any::Any,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_io::{Answer, BoxFuture, Call, Changes, Endpoint};
use sandwire_proto::{PeerInfo, http::Headers, server::Config};
use sandwire_types::{ErrorObject, Method, Notification, Reply};

/// A server whose handlers may panic: the call is answered with an internal error (-32603), standard error is told, and
/// the connection lives on.
///
/// A program that is compiled with `panic = "abort"` ends all the same.
#[derive(Clone, Debug)]
pub struct Caught<E>(pub E);

impl<E: Endpoint> Endpoint for Caught<E> {
    fn config(&self) -> Arc<Config> {
        self.0.config()
    }

    fn call(&self, call: Call) -> Answer {
        let method = call.request.method.clone();
        // What a panic leaves half done is the handler's own: nothing of the connection is in reach of it.
        match catch_unwind(AssertUnwindSafe(|| self.0.call(call))) {
            Ok(Answer::Pending(future)) => Answer::Pending(Box::pin(Running { future: Some(future), method })),
            Ok(answer) => answer,
            Err(panic) => Answer::Ready(Err(told(&method, &*panic))),
        }
    }

    fn notification(&self, notification: &Notification, peer: &Arc<PeerInfo>) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.0.notification(notification, peer))) {
            told(&notification.method, &*panic);
        }
    }

    fn changes(&self) -> Option<&Changes> {
        self.0.changes()
    }

    fn is_mirrored(&self, tool: &str, arguments: &str, headers: &Headers) -> bool {
        self.0.is_mirrored(tool, arguments, headers)
    }
}

struct Running {
    /// Until it is dropped.
    future: Option<BoxFuture<'static, Result<Reply, ErrorObject>>>,
    method: Method,
}

impl Future for Running {
    type Output = Result<Reply, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { future, method } = &mut *self;
        let Some(running) = future else { return Poll::Pending };
        catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx)))
            .unwrap_or_else(|panic| Poll::Ready(Err(told(method, &*panic))))
    }
}

/// What a handler held may panic, too, when it is dropped: where its call is cancelled, nobody is left to be answered.
impl Drop for Running {
    fn drop(&mut self) {
        let future = self.future.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(future))) {
            told(&self.method, &*panic);
        }
    }
}

/// The error for the client, which learns no more than that, once standard error was told the rest.
#[cold]
fn told(method: &Method, panic: &(dyn Any + Send)) -> ErrorObject {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "sandwire: a handler of {method} panicked: {}", text.unwrap_or("no message"));
    ErrorObject::internal("the handler panicked; the server's standard error says where")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NativeEnv;
    use sandwire_io::{
        client::{self, NoHooks},
        in_memory,
    };
    use sandwire_proto::client::Call as Request;
    use sandwire_types::Raw;

    struct Clumsy(Arc<Config>);

    impl Endpoint for Clumsy {
        fn config(&self) -> Arc<Config> {
            self.0.clone()
        }

        fn call(&self, call: Call) -> Answer {
            let says = |word: &str| call.request.params.as_ref().is_some_and(|params| params.as_str().contains(word));
            assert!(!says("at once"), "dropped it");
            if says("later") {
                return Answer::Pending(Box::pin(async { panic!("dropped it later") }));
            }
            if says("never") {
                let held = Brittle;
                return Answer::Pending(Box::pin(async move {
                    let _held = held;
                    std::future::pending().await
                }));
            }
            Answer::Ready(Ok(Reply::new(Raw::from_valid(r#"{"content":[]}"#))))
        }
    }

    struct Brittle;

    impl Drop for Brittle {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "broke it");
        }
    }

    #[test]
    fn a_handler_that_panics_is_an_error_and_the_connection_lives_on() {
        let info = Raw::from_valid(r#"{"name":"clumsy","version":"1"}"#);
        let server = Caught(Clumsy(Arc::new(Config::new(info, Raw::from_valid(r#"{"tools":{}}"#)))));
        let config = client::Config::new("test", "1");
        let (client, driver) = in_memory(Arc::new(server), config, NativeEnv::shared(), Box::new(NoHooks));
        let driver = std::thread::Builder::new().spawn(|| crate::block_on(driver)).unwrap();
        for name in ["at once", "later"] {
            let params = Raw::from_valid(format!(r#"{{"name":"{name}"}}"#));
            let error = crate::block_on(client.call(Request::new(Method::ToolsCall, Some(params)))).unwrap_err();
            assert!(error.to_string().contains("the handler panicked"), "{error}");
        }
        let params = Raw::from_valid(r#"{"name":"never"}"#);
        drop(client.call(Request::new(Method::ToolsCall, Some(params))));
        let params = Raw::from_valid(r#"{"name":"well"}"#);
        assert!(crate::block_on(client.call(Request::new(Method::ToolsCall, Some(params)))).is_ok());
        client.close();
        driver.join().unwrap();
    }
}
