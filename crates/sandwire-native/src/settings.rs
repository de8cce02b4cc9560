//! What the environment says of a server.

use std::{
    error, fmt,
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr,
};

/// What the environment says of a server.
///
/// | variable | values | without it |
/// |---|---|---|
/// | `SANDWIRE_LOG_LEVEL` | `off`, `error`, `warning`, `info`: what the server tells standard error | `info` |
/// | `SANDWIRE_HOST` | the IP address to listen on, or `localhost` | `127.0.0.1` |
/// | `SANDWIRE_PORT` | the port to listen on, 0 for any that is free | standard input and output are served |
/// | `SANDWIRE_DEBUG` | `1` or `true`, `0` or `false`: whether standard error is told every message, too, and over HTTP every request | `false` |
///
/// An empty variable counts as absent. `SANDWIRE_CHILD` and `SANDWIRE_SPEC` have other uses. Any other name that begins
/// with `SANDWIRE_` is one of the [`warnings`](Self::warnings).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The least severe of what the server tells standard error.
    pub log_level: LogLevel,
    /// The address to listen on.
    pub host: IpAddr,
    /// The port to listen on, if the server is to be reached over HTTP.
    pub port: Option<u16>,
    /// Whether standard error is told every message.
    pub debug: bool,
    /// What is probably a mistake.
    pub warnings: Vec<String>,
}

/// How much a server tells standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What ended the server, or a connection.
    Error,
    /// What is probably a mistake, too.
    Warning,
    /// Where it listens, too.
    #[default]
    Info,
}

impl FromStr for LogLevel {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match &*text.to_ascii_lowercase() {
            "off" => Self::Off,
            "error" => Self::Error,
            "warning" | "warn" => Self::Warning,
            "info" => Self::Info,
            _ => return Err(()),
        })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            log_level: LogLevel::default(),
            host: Ipv4Addr::LOCALHOST.into(),
            port: None,
            debug: false,
            warnings: Vec::new(),
        }
    }
}

const PREFIX: &str = "SANDWIRE_";
/// Known, and not for servers.
const OTHERS: [&str; 2] = ["CHILD", "SPEC"];

impl Settings {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// A variable has a value that it cannot have.
    pub fn from_env() -> Result<Self, SettingsError> {
        // Names and values that are not Unicode are nobody's settings.
        Self::from_vars(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))),
        )
    }

    /// Reads pairs of a name and a value as if they were the environment.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_vars(vars: impl IntoIterator<Item = (String, String)>) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        let mut has_host = false;
        for (name, value) in vars {
            let Some(setting) = name.strip_prefix(PREFIX).filter(|setting| !OTHERS.contains(setting)) else { continue };
            let value = value.trim();
            let refused = |allowed| SettingsError { name: name.clone(), value: value.to_owned(), allowed };
            match setting {
                "LOG_LEVEL" | "HOST" | "PORT" | "DEBUG" if value.is_empty() => {}
                "LOG_LEVEL" => {
                    settings.log_level = value.parse().map_err(|()| refused("off, error, warning or info"))?;
                }
                "HOST" => {
                    has_host = true;
                    settings.host =
                        host(value).ok_or_else(|| refused("an IP address such as 127.0.0.1, or localhost"))?;
                }
                "PORT" => settings.port = Some(value.parse().map_err(|_| refused("a number from 0 to 65535"))?),
                "DEBUG" => {
                    settings.debug = match &*value.to_ascii_lowercase() {
                        "1" | "true" => true,
                        "0" | "false" => false,
                        _ => return Err(refused("1, true, 0 or false")),
                    };
                }
                _ => settings.warnings.push(format!(
                    "the environment has {name}, which is not known; known are SANDWIRE_LOG_LEVEL, SANDWIRE_HOST, \
                     SANDWIRE_PORT and SANDWIRE_DEBUG"
                )),
            }
        }
        if has_host && settings.port.is_none() {
            settings.warnings.push(
                "the environment has SANDWIRE_HOST, which says nothing without SANDWIRE_PORT; set both to be reached \
                 over HTTP"
                    .to_owned(),
            );
        }
        settings.warnings.sort();
        Ok(settings)
    }

    /// Where to listen, if the server is to be reached over HTTP.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.host, self.port?))
    }

    /// Tells standard error, if it wants to hear of what is of this level; what is of the level [`Off`](LogLevel::Off) it
    /// hears in any case.
    pub fn tell(&self, level: LogLevel, text: impl fmt::Display) {
        if level <= self.log_level {
            // Where standard error is closed, nobody wants to hear it.
            let _ = writeln!(io::stderr(), "sandwire: {text}");
        }
    }
}

fn host(value: &str) -> Option<IpAddr> {
    if value.eq_ignore_ascii_case("localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    let bare = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
    bare.parse().ok()
}

/// A variable has a value that it cannot have.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsError {
    name: String,
    value: String,
    allowed: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, allowed } = self;
        write!(f, "the environment variable {name} is {value:?}; it must be {allowed}")
    }
}

/// As it is displayed, since that is what a `main` shows that returns it.
impl fmt::Debug for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Settings, String> {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::from_vars(vars).map_err(|error| error.to_string())
    }

    #[test]
    fn without_variables_everything_is_as_documented() {
        let settings = read(&[("PATH", "/bin"), ("SANDWIRE_PORT", ""), ("SANDWIRE_DEBUG", " ")]).unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.log_level, LogLevel::Info);
        assert_eq!(settings.address(), None);
    }

    #[test]
    fn every_variable_is_read() {
        let settings = read(&[
            ("SANDWIRE_LOG_LEVEL", "Error"),
            ("SANDWIRE_HOST", "[::1]"),
            ("SANDWIRE_PORT", "8080"),
            ("SANDWIRE_DEBUG", "true"),
            ("SANDWIRE_CHILD", "4f"),
            ("SANDWIRE_SPEC", "spec"),
        ])
        .unwrap();
        assert_eq!(settings.log_level, LogLevel::Error);
        assert_eq!(settings.address(), Some("[::1]:8080".parse().unwrap()));
        assert!(settings.debug);
        assert_eq!(settings.warnings, [""; 0]);
        assert_eq!(read(&[("SANDWIRE_HOST", "localhost")]).unwrap().host, Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn a_bad_value_is_refused_with_those_that_are_allowed() {
        for (name, value, allowed) in [
            ("SANDWIRE_LOG_LEVEL", "loud", "off, error, warning or info"),
            ("SANDWIRE_HOST", "example.com", "an IP address such as 127.0.0.1, or localhost"),
            ("SANDWIRE_HOST", "[[::1]", "an IP address such as 127.0.0.1, or localhost"),
            ("SANDWIRE_PORT", "65536", "a number from 0 to 65535"),
            ("SANDWIRE_DEBUG", "yes", "1, true, 0 or false"),
        ] {
            let expected = format!("the environment variable {name} is {value:?}; it must be {allowed}");
            assert_eq!(read(&[(name, value)]), Err(expected));
        }
    }

    #[test]
    fn a_main_that_returns_a_bad_value_shows_what_is_allowed() {
        let vars = [("SANDWIRE_PORT".to_owned(), "no".to_owned())];
        let error = Settings::from_vars(vars).unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn a_host_without_a_port_is_warned_about() {
        let settings = read(&[("SANDWIRE_HOST", "::1")]).unwrap();
        assert!(settings.warnings[0].contains("without SANDWIRE_PORT"), "{:?}", settings.warnings);
        assert_eq!(read(&[("SANDWIRE_HOST", "::1"), ("SANDWIRE_PORT", "0")]).unwrap().warnings, [""; 0]);
    }

    #[test]
    fn an_unknown_variable_is_warned_about() {
        let settings = read(&[("SANDWIRE_PROT", "80"), ("SANDWIRE_", "x"), ("SANDWIRED", "x")]).unwrap();
        assert_eq!(settings.warnings.len(), 2);
        assert!(settings.warnings.iter().any(|warning| warning.contains("has SANDWIRE_PROT, which is not known")));
        assert_eq!(settings.address(), None);
    }
}
