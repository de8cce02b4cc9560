//! What standard error is told while a server runs.

#[cfg(feature = "http")]
pub(super) use http::ToldHttp;
#[cfg(any(feature = "stdio", feature = "unix"))]
pub(super) use text::Told;

#[cfg(any(feature = "stdio", feature = "unix"))]
mod text {
    use std::task::{Context, Poll};

    use sandwire_io::TextPort;
    use sandwire_native::{Settings, settings::LogLevel};
    use sandwire_proto::{TransportError, TransportErrorKind};

    /// A port whose faults are told, and its messages too if they are asked for.
    pub(crate) struct Told<P> {
        port: P,
        settings: Settings,
    }

    impl<P> Told<P> {
        pub(crate) fn new(port: P, settings: Settings) -> Self {
            Self { port, settings }
        }

        fn tell(&self, arrow: char, text: &str) {
            if self.settings.debug {
                self.settings.tell(LogLevel::Off, format_args!("{arrow} {text}"));
            }
        }
    }

    impl<P: TextPort> TextPort for Told<P> {
        fn send(&mut self, text: String) {
            self.tell('>', &text);
            self.port.send(text);
        }

        fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
            let polled = self.port.poll(cx);
            match &polled {
                Poll::Ready(Some(Ok(text))) => self.tell('<', text),
                Poll::Ready(Some(Err(error))) => {
                    let ends = error.kind() == TransportErrorKind::Closed;
                    self.settings.tell(if ends { LogLevel::Error } else { LogLevel::Warning }, error);
                }
                _ => {}
            }
            polled
        }

        fn close(&mut self) {
            self.port.close();
        }

        fn lingers(&self) -> bool {
            self.port.lingers()
        }
    }
}

#[cfg(feature = "http")]
mod http {
    use sandwire_io::{Body, BoxFuture, HttpService};
    use sandwire_native::{Settings, settings::LogLevel};
    use sandwire_proto::http::{RequestHead, ResponseHead};
    use sandwire_server::http::HttpEntry;

    /// An entry that says what is asked for and how it is answered, if that is asked for.
    pub(crate) struct ToldHttp {
        entry: HttpEntry,
        settings: Settings,
    }

    impl ToldHttp {
        pub(crate) fn new(entry: HttpEntry, settings: Settings) -> Self {
            Self { entry, settings }
        }
    }

    impl HttpService for ToldHttp {
        fn handle(&self, head: RequestHead, body: Box<dyn Body>) -> BoxFuture<'static, (ResponseHead, Box<dyn Body>)> {
            if !self.settings.debug {
                return self.entry.handle(head, body);
            }
            let asked = format!("{:?} {}", head.method, head.headers.get("mcp-method").unwrap_or_default());
            let settings = self.settings.clone();
            settings.tell(LogLevel::Off, format_args!("< {asked}"));
            let answered = self.entry.handle(head, body);
            Box::pin(async move {
                let (head, body) = answered.await;
                settings.tell(LogLevel::Off, format_args!("> {asked}: {}", head.status));
                (head, body)
            })
        }
    }
}
