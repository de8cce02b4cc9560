//! The specification's nouns, the same for every version.

mod logging;

pub use logging::LoggingLevel;
