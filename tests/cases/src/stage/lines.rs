//! A server of ours over lines of bytes, as on standard input and output.

use super::{Judge, Said, pool, request};
use futures::{AsyncRead, AsyncWrite, executor::LocalPool, task::LocalSpawnExt};
use sandwire_io::{Endpoint, TextLink, lines::Lines, serve, testing::SimEnv};
use sandwire_proto::Limits;
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};
use wire_check::Side;

/// One direction of bytes. Reads give one piece that was written, whole or cut by the reader's buffer.
#[derive(Clone, Debug, Default)]
pub struct Pipe(Arc<Mutex<Bytes>>);

#[derive(Debug, Default)]
struct Bytes {
    pieces: VecDeque<Vec<u8>>,
    ended: bool,
    /// How many bytes may be written until the reader took some; none for no end.
    room: Option<usize>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    /// Takes no more than `room` bytes before [`Self::take`] is called.
    pub fn narrow(&self, room: usize) {
        self.0.lock().unwrap().room = Some(room);
    }

    pub fn put(&self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        let mut bytes = self.0.lock().unwrap();
        bytes.pieces.push_back(piece.to_vec());
        bytes.reader.take().into_iter().for_each(Waker::wake);
    }

    pub fn end(&self) {
        let mut bytes = self.0.lock().unwrap();
        bytes.ended = true;
        bytes.reader.take().into_iter().for_each(Waker::wake);
    }

    /// Everything that was written since.
    pub fn take(&self) -> Vec<u8> {
        let mut bytes = self.0.lock().unwrap();
        bytes.writer.take().into_iter().for_each(Waker::wake);
        std::mem::take(&mut bytes.pieces).into_iter().flatten().collect()
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut bytes = self.0.lock().unwrap();
        let Some(mut piece) = bytes.pieces.pop_front() else {
            if bytes.ended {
                return Poll::Ready(Ok(0));
            }
            bytes.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let rest = piece.split_off(piece.len().min(buffer.len()));
        if !rest.is_empty() {
            bytes.pieces.push_front(rest);
        }
        buffer.get_mut(..piece.len()).unwrap().copy_from_slice(&piece);
        Poll::Ready(Ok(piece.len()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let mut bytes = self.0.lock().unwrap();
        let held: usize = bytes.pieces.iter().map(Vec::len).sum();
        let room = bytes.room.map_or(buffer.len(), |room| room.saturating_sub(held).min(buffer.len()));
        if room == 0 && !buffer.is_empty() {
            bytes.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        bytes.pieces.push_back(buffer.get(..room).unwrap().to_vec());
        Poll::Ready(Ok(room))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}

pub struct LineServer {
    pub pool: LocalPool,
    pub env: SimEnv,
    pub judge: Judge,
    pub input: Pipe,
    pub output: Pipe,
    rest: Vec<u8>,
}

impl LineServer {
    pub fn new(endpoint: impl Endpoint) -> Self {
        let (input, output) = (Pipe::default(), Pipe::default());
        let limits = Limits::default();
        let port = Lines::new(input.clone(), output.clone(), limits.max_message_bytes);
        let env = SimEnv::new(4);
        let driver = serve(Arc::new(endpoint), Arc::new(env.clone()), Box::new(TextLink::new(port, limits)));
        let pool = pool();
        pool.spawner().spawn_local(driver).unwrap();
        Self { pool, env, judge: Judge::of(Side::Server), input, output, rest: Vec::new() }
    }

    /// Writes bytes, which are not judged.
    pub fn write(&mut self, bytes: &[u8]) {
        self.input.put(bytes);
        self.pool.run_until_stalled();
    }

    /// Writes a message as a line.
    pub fn say(&mut self, text: &str) {
        self.judge.theirs(text);
        self.write(&[text.as_bytes(), b"\n"].concat());
    }

    /// Begins a legacy conversation.
    pub fn initialize(&mut self, version: &str) {
        let params =
            format!(r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
        self.say(&request("", "0", "initialize", &params));
        assert!(self.hear().get("result").is_some());
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// The messages that were written since, whole lines only.
    pub fn heard(&mut self) -> Vec<Said> {
        self.heard_unjudged().into_iter().map(|said| self.judge.ours(said.0)).collect()
    }

    /// The messages that were written since, where the judge cannot know to what.
    pub fn heard_unjudged(&mut self) -> Vec<Said> {
        loop {
            self.pool.run_until_stalled();
            let bytes = self.output.take();
            if bytes.is_empty() {
                break;
            }
            self.rest.extend(bytes);
        }
        let mut heard = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let text = String::from_utf8(line).unwrap().trim_end_matches('\n').to_owned();
            heard.push(Said(text));
        }
        heard
    }

    /// The one message that was written since.
    #[track_caller]
    pub fn hear(&mut self) -> Said {
        let mut heard = self.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }
}
