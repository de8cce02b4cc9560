use sandwire_proto::{TransportError, TransportErrorKind};
use std::{error::Error, fmt, process::ExitStatus, sync::Arc};

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
    /// Its exit status, or the signal that ended it. `None` if somebody else reaped it, or it has not ended.
    pub status: Option<ExitStatus>,
    /// It did not exit by itself, but closed its standard output or input, or did not read, and was ended.
    pub forced: bool,
    /// The last lines on its standard error.
    pub stderr: Vec<String>,
    /// The first line on its standard output that was no message, if it wrote no message at all.
    pub garbage: Option<String>,
    pub(super) fault: Option<TransportError>,
}

impl Exited {
    pub(super) fn error(self, kind: TransportErrorKind) -> TransportError {
        TransportError::new(kind, self.to_string()).with_source(Arc::new(self))
    }

    /// What it said, as far as it may explain what happened.
    pub(super) fn quotes(&self) -> String {
        let mut quotes = String::new();
        if let Some(garbage) = &self.garbage {
            quotes.push_str(&format!("; on its standard output, where only messages may be, it printed {garbage:?}"));
        }
        if !self.stderr.is_empty() {
            quotes.push_str("; the last lines on its standard error are:\n  ");
            quotes.push_str(&self.stderr.join("\n  "));
        }
        quotes
    }
}

impl fmt::Display for Exited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.fault, self.status) {
            (Some(fault), _) => write!(f, "the server was given up: {fault}")?,
            _ if self.forced => f.write_str("the server stopped talking and was ended; check its log")?,
            (_, Some(status)) => {
                write!(f, "the server exited ({status}); check its command, arguments and environment")?
            }
            _ => f.write_str("the server exited; check its command, arguments and environment")?,
        }
        f.write_str(&self.quotes())
    }
}

impl Error for Exited {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.fault.as_ref().map(|fault| fault as &(dyn Error + 'static))
    }
}
