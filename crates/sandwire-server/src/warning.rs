//! What works, and yet is not as the specification recommends.

use crate::server::Server;
use std::fmt;
use std::sync::Arc;

/// Something about a server that works here and may not work with every client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The name of a tool has a character other than ASCII letters, digits, `_`, `-` and `.`.
    ToolNameCharacters(Arc<str>),
    /// The name of a tool has more than 128 characters.
    ToolNameLength(Arc<str>),
}

/// How many characters the name of a tool should have at most.
const MAX_TOOL_NAME: usize = 128;

impl Server {
    /// What the specification recommends otherwise about the tools that are registered now. Nothing of it is refused:
    /// a program shows it to its author, or asserts in a test that there is none.
    ///
    /// ```
    /// use sandwire_server::{Server, Warning};
    ///
    /// let server = Server::builder("desk", "1.0").tool("look up", "Looks a word up.", || "found").build()?;
    /// assert_eq!(server.warnings(), [Warning::ToolNameCharacters("look up".into())]);
    /// # Ok::<(), sandwire_server::RegistrationError>(())
    /// ```
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for name in self.tools().names() {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
            if name.chars().count() > MAX_TOOL_NAME {
                warnings.push(Warning::ToolNameLength(name.clone()));
            }
            if !name.bytes().all(is_plain) {
                warnings.push(Warning::ToolNameCharacters(name));
            }
        }
        warnings
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, advice) = match self {
            Self::ToolNameCharacters(name) => {
                (name, "` has characters that some clients refuse; use ASCII letters, digits, `_`, `-` and `.`")
            }
            Self::ToolNameLength(name) => (name, "` is longer than some clients accept; use at most 128 characters"),
        };
        for part in ["the tool name `", name, advice] {
            f.write_str(part)?;
        }
        Ok(())
    }
}
