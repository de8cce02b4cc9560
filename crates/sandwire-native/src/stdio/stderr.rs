//! What a child writes on its standard error: each line goes to the hook, and the last ones are kept.

use super::family::lock;
use futures_io::AsyncRead;
use std::{
    collections::VecDeque,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex},
    task::Poll,
};

/// Sees each line. Runs in the driver or in the keeper, and must not block.
pub(super) type Hook = Arc<dyn Fn(&str) + Send + Sync>;

/// Longer lines are cut.
const LINE_BYTES: usize = 8 * 1024;
const KEPT_LINES: usize = 20;
const KEPT_BYTES: usize = 8 * 1024;
const CHUNK: usize = 16 * 1024;

/// The last lines.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Tail {
    pub(super) fn lines(&self) -> Vec<String> {
        lock(&self.0).lines.iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        *lock(&self.0) = Kept::default();
    }

    fn push(&self, line: &str) {
        let mut kept = lock(&self.0);
        kept.bytes += line.len();
        while kept.lines.len() == KEPT_LINES || kept.bytes > KEPT_BYTES {
            let Some(oldest) = kept.lines.pop_front() else { break };
            kept.bytes -= oldest.len();
        }
        kept.lines.push_back(line.to_owned());
    }
}

/// Reads until the end. Between chunks others have a turn, so that a flood delays nobody.
pub(super) async fn pump(mut stderr: impl AsyncRead + Unpin, hook: Option<Hook>, tail: Arc<Tail>) {
    let mut chunk = vec![0; CHUNK].into_boxed_slice();
    let mut line = Vec::new();
    let tell = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if let Some(hook) = &hook {
            // A hook that panics is not asked to take the connection, or other children's keeper, with it.
            let _ = catch_unwind(AssertUnwindSafe(|| hook(&text)));
        }
        tail.push(&text);
        line.clear();
    };
    loop {
        let bytes = match poll_fn(|cx| Pin::new(&mut stderr).poll_read(cx, &mut chunk)).await {
            Ok(0) => break,
            Ok(count) => chunk.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES.saturating_sub(line.len()).min(part.len());
            line.extend_from_slice(part.get(..room).unwrap_or_default());
            if part.ends_with(b"\n") {
                tell(&mut line);
            }
        }
        pause().await;
    }
    if !line.is_empty() {
        tell(&mut line);
    }
}

/// Lets others have a turn.
pub(super) async fn pause() {
    let mut paused = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut paused, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hook: Hook = Arc::new({
            let told = Arc::clone(&told);
            move |line: &str| {
                told.lock().unwrap().push(line.to_owned());
                assert!(!line.contains("panic"));
            }
        });
        let tail = Arc::new(Tail::default());
        crate::block_on(pump(bytes, Some(hook), Arc::clone(&tail)));
        let told = told.lock().unwrap().clone();
        (told, tail.lines())
    }

    #[test]
    fn each_line_is_told_and_kept() {
        let (told, kept) = run(b"one\r\n\ntw\xffo\nlast");
        assert_eq!(told, ["one", "", "tw\u{fffd}o", "last"]);
        assert_eq!(kept, told);
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_long_line_cut() {
        let (told, kept) = run(&[b"x".repeat(100_000), b"\n".to_vec(), b"line\n".repeat(1_000)].concat());
        assert_eq!((told[0].len(), told.len(), kept.len()), (LINE_BYTES, 1_001, KEPT_LINES));
        let (_, kept) = run(&[b"y".repeat(5_000), b"\n".to_vec()].concat().repeat(9));
        assert_eq!(kept.len(), 1);
    }

    #[test]
    fn a_hook_that_panics_is_asked_again() {
        assert_eq!(run(b"panic\nafter\n").0, ["panic", "after"]);
    }
}
