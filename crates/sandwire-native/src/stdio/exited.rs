use sandwire_proto::{TransportError, TransportErrorKind};
use std::{fmt, process::ExitStatus, sync::Arc};

/// How a server ended, and what it said last: the source of the [`TransportError`] that tells of it.
///
/// ```
/// use sandwire_native::stdio::Exited;
/// use sandwire_proto::TransportError;
/// use std::error::Error;
///
/// fn exit_code(error: &TransportError) -> Option<i32> {
///     error.source()?.downcast_ref::<Exited>()?.status?.code()
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Exited {
    /// Its exit status, or the signal that ended it. `None` if somebody else reaped it.
    pub status: Option<ExitStatus>,
    /// It had to be ended, as it had closed its standard output or input and did not exit.
    pub ended_by_us: bool,
    /// The last lines on its standard error.
    pub stderr: Vec<String>,
    /// The first line on its standard output that was no message.
    pub garbage: Option<String>,
}

impl Exited {
    pub(super) fn error(self, kind: TransportErrorKind) -> TransportError {
        TransportError::new(kind, self.to_string()).with_source(Arc::new(self))
    }
}

impl fmt::Display for Exited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            _ if self.ended_by_us => f.write_str("the server stopped talking, and was ended")?,
            Some(status) => write!(f, "the server exited ({status})")?,
            None => f.write_str("the server exited")?,
        }
        f.write_str("; check its command, arguments and environment")?;
        if let Some(garbage) = &self.garbage {
            write!(f, "; on its standard output, where only messages may be, it printed {garbage:?}")?;
        }
        if !self.stderr.is_empty() {
            f.write_str("; the last lines on its standard error are:")?;
            self.stderr.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Exited {}
