//! [Logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging).

use sandwire_json::Raw;

use super::macros::{noun, open_enum};

open_enum! {
    /// How serious a log message is, after RFC 5424.
    LoggingLevel {
        /// For debugging.
        Debug = "debug",
        /// Information.
        Info = "info",
        /// Normal and significant.
        Notice = "notice",
        /// A warning.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A critical condition.
        Critical = "critical",
        /// Action is needed at once.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

impl LoggingLevel {
    /// How serious, from 0 for [`Debug`](Self::Debug) to 7; `None` for a level not known here.
    pub fn severity(&self) -> Option<u8> {
        Some(match self {
            Self::Debug => 0,
            Self::Info => 1,
            Self::Notice => 2,
            Self::Warning => 3,
            Self::Error => 4,
            Self::Critical => 5,
            Self::Alert => 6,
            Self::Emergency => 7,
            Self::Other(_) => return None,
        })
    }
}

noun! {
    /// What `logging/setLevel` is called with.
    SetLevelRequestParams {
        /// From which level on messages are wanted.
        level: LoggingLevel = "level",
    } optional {}
}

noun! {
    /// What `notifications/message` tells.
    LoggingMessageNotificationParams {
        /// How serious it is.
        level: LoggingLevel = "level",
        /// What happened: any JSON value.
        data: Raw = "data",
    } optional {
        /// Who says it.
        logger: String = "logger",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
