//! A client and a server joined in virtual time, over a pipe with latency and faults. For tests.

use crate::{
    Input, Time, Via, Wire,
    client::{self, Call, CallKey},
    server,
};
use sandwire_types::{
    ErrorCode, Message, WireError,
    wire::{Incoming, Memo, decode, encode},
};
use std::{collections::VecDeque, sync::Arc};

/// What a pipe does to messages. Each number is how many of a thousand meet the fault.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs)]
pub struct Faults {
    /// Messages lost.
    pub lose: u32,
    /// Messages that arrive twice.
    pub repeat: u32,
    /// Messages cut short.
    pub truncate: u32,
}

/// Two machines, the pipe between them, and a clock that only moves when it is told to.
///
/// Messages travel as JSON text. What either machine wants besides sending is left for the test to take.
///
/// ```
/// use sandwire_proto::{client, server, sim::Pair};
/// use sandwire_types::{Method, Raw, Reply};
/// use std::sync::Arc;
///
/// let info = Raw::from_valid(r#"{"name":"s","version":"1"}"#);
/// let tools = Raw::from_valid(r#"{"tools":{}}"#);
/// let mut pair = Pair::new(client::Config::new("c", "1"), Arc::new(server::Config::new(info, tools)));
/// let call = pair.call(client::Call::new(Method::ToolsList, None)).unwrap();
/// pair.run();
/// let (key, request) = pair.called().unwrap();
/// assert_eq!(request.method, Method::ToolsList);
/// pair.server.reply(key, Ok(Reply::new(Raw::from_valid(r#"{"tools":[]}"#))));
/// pair.run();
/// let (ended, result) = pair.done().unwrap();
/// assert_eq!(ended, call);
/// assert!(result.is_ok());
/// ```
#[derive(Debug)]
pub struct Pair {
    /// The client.
    pub client: client::Machine,
    /// The server.
    pub server: server::Machine,
    /// The time.
    pub now: Time,
    /// How long a message travels, in milliseconds.
    pub latency_ms: u64,
    /// What happens to messages on the way.
    pub faults: Faults,
    /// What the client wants besides sending.
    pub client_outputs: VecDeque<client::Output>,
    /// What the server wants besides sending.
    pub server_outputs: VecDeque<server::Output>,
    /// Every text that was sent: `>` from the client, `<` from the server.
    pub transcript: Vec<String>,
    travelling: VecDeque<Travelling>,
    memos: [Memo; 2],
    seed: u64,
}

#[derive(Debug)]
struct Travelling {
    at: Time,
    to: Side,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

impl Pair {
    /// Two machines that have sent nothing yet, over a pipe without latency and faults.
    #[must_use]
    pub fn new(mut client: client::Config, server: Arc<server::Config>) -> Self {
        client.wire = Wire::Pipe;
        Self {
            client: client::Machine::new(client),
            server: server::Machine::new(server),
            now: Time(0),
            latency_ms: 0,
            faults: Faults::default(),
            client_outputs: VecDeque::new(),
            server_outputs: VecDeque::new(),
            transcript: Vec::new(),
            travelling: VecDeque::new(),
            memos: [Memo::new(), Memo::new()],
            seed: 1,
        }
    }

    /// The same pair, with faults that `seed` decides on.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults, seed: u64) -> Self {
        self.faults = faults;
        self.seed = seed | 1;
        self
    }

    /// Makes a call.
    ///
    /// # Errors
    /// As [`client::Machine::request`].
    pub fn call(&mut self, call: Call) -> Result<CallKey, client::CallError> {
        self.client.request(self.now, call)
    }

    /// Carries messages until none travels, without letting time pass beyond their latency.
    pub fn run(&mut self) {
        self.client.handle(self.now, Input::Tick);
        loop {
            self.collect();
            let Some(next) = self.travelling.pop_front() else { return };
            self.now = self.now.max(next.at);
            self.deliver(next);
        }
    }

    /// Lets time pass, waking the client whenever it wants to be woken and carrying messages all the while.
    pub fn advance(&mut self, milliseconds: u64) {
        let end = self.now.after(milliseconds);
        self.run();
        while let Some(at) = self.client.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.run();
        }
        self.now = self.now.max(end);
        self.run();
    }

    /// The next call the server has to answer; other outputs before it are dropped.
    pub fn called(&mut self) -> Option<(server::CallKey, sandwire_types::Request)> {
        while let Some(output) = self.server_outputs.pop_front() {
            if let server::Output::Call { key, request, .. } = output {
                return Some((key, request));
            }
        }
        None
    }

    /// The next call that ended at the client; other outputs before it are dropped.
    #[allow(clippy::type_complexity)]
    pub fn done(&mut self) -> Option<(CallKey, Result<sandwire_types::Reply, client::CallError>)> {
        while let Some(output) = self.client_outputs.pop_front() {
            if let client::Output::Done { key, result } = output {
                return Some((key, result));
            }
        }
        None
    }

    /// Breaks the pipe: both machines hear that the link is gone, and nothing that travelled arrives.
    pub fn cut(&mut self) {
        self.travelling.clear();
        self.client.handle(self.now, Input::Closed(None));
        self.server.handle(self.now, Input::Closed(None));
        self.collect();
    }

    fn collect(&mut self) {
        while let Some(output) = self.client.poll() {
            match output {
                client::Output::Send { message, .. } => self.send(Side::Server, &message),
                other => self.client_outputs.push_back(other),
            }
        }
        while let Some(output) = self.server.poll() {
            match output {
                server::Output::Send { message, .. } => self.send(Side::Client, &message),
                other => self.server_outputs.push_back(other),
            }
        }
    }

    fn send(&mut self, to: Side, message: &Message) {
        let mut text = encode(message);
        let mut line = String::from(if to == Side::Server { "> " } else { "< " });
        line.push_str(&text);
        self.transcript.push(line);
        if self.happens(self.faults.lose) {
            return;
        }
        let at = self.now.after(self.latency_ms);
        if self.happens(self.faults.repeat) {
            self.travelling.push_back(Travelling { at, to, text: text.clone() });
        }
        if self.happens(self.faults.truncate) {
            let mut end = text.len() / 2;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        self.travelling.push_back(Travelling { at, to, text });
    }

    fn deliver(&mut self, Travelling { to, text, .. }: Travelling) {
        let [client_memo, server_memo] = &mut self.memos;
        let memo = if to == Side::Client { client_memo } else { server_memo };
        let read = match decode(&text, memo) {
            Ok(Incoming::One(message)) => vec![Ok(message)],
            Ok(Incoming::Batch(batch)) => batch,
            Err(error) => vec![Err(error)],
        };
        for message in read {
            let input = match message {
                Ok(message) => Input::Message { via: Via::Pipe, message },
                Err(error) => Input::Garbage { via: Via::Pipe, error },
            };
            match to {
                Side::Client => self.client.handle(self.now, input),
                Side::Server => self.server.handle(self.now, input),
            }
        }
    }

    /// Sends something that is no message to the client.
    pub fn garble(&mut self) {
        let error = WireError::new(ErrorCode::PARSE_ERROR, "noise");
        self.client.handle(self.now, Input::Garbage { via: Via::Pipe, error });
    }

    fn happens(&mut self, per_mille: u32) -> bool {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33 < u64::from(per_mille) * (1 << 31) / 1000
    }
}
