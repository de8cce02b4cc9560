use sandwire_json::{Error, Read, Reader, Write, Writer};

/// How serious a log message is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For debugging.
    Debug,
    /// Information.
    Info,
    /// Normal and significant.
    Notice,
    /// A warning.
    Warning,
    /// An error.
    Error,
    /// A critical condition.
    Critical,
    /// Action is needed at once.
    Alert,
    /// The system is unusable.
    Emergency,
    /// One that is not known here.
    Other(String),
}

impl Read for LoggingLevel {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.string().map(|s| Self::Other(s.into_owned()))
    }
}

impl Write for LoggingLevel {
    fn write(&self, w: &mut Writer) {
        let _ = w;
    }
}
