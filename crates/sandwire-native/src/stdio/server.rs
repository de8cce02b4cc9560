//! This process's own standard streams as a port.

use std::{
    fmt, io,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
};

use futures_io::{AsyncRead, AsyncWrite};
use sandwire_io::{TextPort, lines::Lines};
use sandwire_proto::TransportError;

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// This process's standard input and output, one message a line.
///
/// While it exists nobody else has them. On Unix, standard output is standard error for everybody else and standard
/// input is empty, so that neither a `println!` in a handler, nor a C library, nor a child process of a tool can break
/// the stream; both are as they were when the port is dropped. On Windows handlers must leave them alone.
///
/// Pipes and sockets are read and written without blocking (their mode is set back at the end, since it belongs to
/// every process that shares them); terminals and files by a thread. What was read with [`std::io::stdin`] before is
/// lost, to the end of its buffer.
///
/// Signals do what they do by default: `SIGTERM` and `SIGINT` end the process.
pub struct Stdio {
    lines: Lines<Input, Output>,
    // After the lines, which use them.
    _streams: Streams,
    _taken: Taken,
}

impl Stdio {
    /// Takes the streams. A line of more than `max_line_bytes` is refused, and reading goes on with the next.
    ///
    /// # Errors
    /// They are taken already, or closed.
    pub fn take(max_line_bytes: usize) -> io::Result<Self> {
        let taken = Taken::take()?;
        let (streams, input, output) = Streams::take()?;
        Ok(Self { lines: Lines::new(input, output, max_line_bytes), _streams: streams, _taken: taken })
    }
}

impl TextPort for Stdio {
    fn send(&mut self, text: String) {
        self.lines.send(text);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        self.lines.poll(cx)
    }

    fn close(&mut self) {
        self.lines.close();
    }

    fn lingers(&self) -> bool {
        self.lines.lingers()
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio").finish_non_exhaustive()
    }
}

/// That the streams are taken, which only one port can have done.
struct Taken;

static TAKEN: AtomicBool = AtomicBool::new(false);

impl Taken {
    fn take() -> io::Result<Self> {
        if TAKEN.swap(true, Ordering::AcqRel) {
            let message = "standard input and output are served already; a process has them once";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Ok(Self)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

#[cfg(not(unix))]
use other::Streams;
#[cfg(unix)]
use unix::Streams;

#[cfg(unix)]
mod unix {
    use std::{
        io::{self, PipeReader, PipeWriter, Read, Write},
        os::fd::{AsFd, OwnedFd},
        sync::Arc,
    };

    use async_io::Async;
    use blocking::Unblock;
    use rustix::{
        fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, open},
        io::fcntl_dupfd_cloexec,
        stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout},
    };

    use super::{Input, Output};
    use crate::source::{Reader, Writer};

    /// The streams as they were before they were taken.
    pub(super) struct Streams {
        input: Stream,
        output: Stream,
    }

    impl Streams {
        pub(super) fn take() -> io::Result<(Self, Input, Output)> {
            // What was printed before goes where it was meant to.
            io::stdout().flush()?;
            let streams = Self { input: Stream::keep(stdin())?, output: Stream::keep(stdout())? };
            let input: Input = if streams.input.is_watched()? {
                Box::new(Reader::new(Arc::new(Async::new(PipeReader::from(streams.input.fd.try_clone()?))?)))
            } else {
                Box::new(Unblock::new(UntilEnd::new(PipeReader::from(streams.input.fd.try_clone()?))))
            };
            let output: Output = if streams.output.is_watched()? {
                let stream = Async::new(PipeWriter::from(streams.output.fd.try_clone()?))?;
                Box::new(Writer::new(Arc::new(stream), |_| Ok(())))
            } else {
                Box::new(Unblock::new(PipeWriter::from(streams.output.fd.try_clone()?)))
            };
            dup2_stdin(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?;
            dup2_stdout(stderr())?;
            Ok((streams, input, output))
        }
    }

    impl Drop for Streams {
        fn drop(&mut self) {
            // What a handler printed and did not end with a line feed. None of this can be told anybody.
            let _ = io::stdout().flush();
            let _ = fcntl_setfl(&self.input.fd, self.input.flags);
            let _ = fcntl_setfl(&self.output.fd, self.output.flags);
            let _ = dup2_stdin(&self.input.fd);
            let _ = dup2_stdout(&self.output.fd);
        }
    }

    /// A stream whose end is its end. Who reads a terminal in a thread tries again after an end that came close behind
    /// a line, and would wait for a second Ctrl-D.
    struct UntilEnd<R> {
        reader: R,
        ended: bool,
    }

    impl<R> UntilEnd<R> {
        fn new(reader: R) -> Self {
            Self { reader, ended: false }
        }
    }

    impl<R: Read> Read for UntilEnd<R> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.ended {
                return Ok(0);
            }
            let count = self.reader.read(buffer)?;
            self.ended = count == 0 && !buffer.is_empty();
            Ok(count)
        }
    }

    /// A duplicate of a stream, and its mode.
    struct Stream {
        fd: OwnedFd,
        flags: OFlags,
    }

    impl Stream {
        fn keep(stream: impl AsFd) -> io::Result<Self> {
            // Above the three that have names, should one of those be closed.
            let fd = fcntl_dupfd_cloexec(stream, 3)?;
            let flags = fcntl_getfl(&fd)?;
            Ok(Self { fd, flags })
        }

        /// Whether the reactor can watch it, and whether not to block may be asked of it: a terminal's other users do
        /// not expect it, and files know no such thing.
        fn is_watched(&self) -> io::Result<bool> {
            let kind = FileType::from_raw_mode(fstat(&self.fd)?.st_mode);
            Ok(matches!(kind, FileType::Fifo | FileType::Socket))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::block_on;
        use futures_util::AsyncReadExt;
        use std::collections::VecDeque;

        /// A terminal, on which more can be typed after its end.
        struct Terminal(VecDeque<&'static str>);

        impl Read for Terminal {
            fn read(&mut self, mut buffer: &mut [u8]) -> io::Result<usize> {
                buffer.write(self.0.pop_front().unwrap_or_default().as_bytes())
            }
        }

        #[test]
        fn an_end_close_behind_a_line_is_the_end() {
            let typed = VecDeque::from(["first\n", "second\n", "", "never read\n"]);
            let mut input = Unblock::new(UntilEnd::new(Terminal(typed)));
            let mut text = String::new();
            block_on(input.read_to_string(&mut text)).unwrap();
            assert_eq!(text, "first\nsecond\n");
        }
    }
}

#[cfg(not(unix))]
mod other {
    use std::io;

    use blocking::Unblock;

    use super::{Input, Output};

    pub(super) struct Streams;

    impl Streams {
        pub(super) fn take() -> io::Result<(Self, Input, Output)> {
            Ok((Self, Box::new(Unblock::new(io::stdin())), Box::new(Unblock::new(io::stdout()))))
        }
    }
}
