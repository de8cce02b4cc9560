//! The names of extensions, and of the members of `_meta`.

/// A key of `_meta`: `name`, or `prefix/name`, where the prefix is labels with dots between them.
///
/// ```
/// use sandwire_types::extension::MetaKey;
///
/// let key = MetaKey::parse("com.example/trace").unwrap();
/// assert_eq!((key.prefix, key.name), (Some("com.example"), "trace"));
/// assert!(!key.is_reserved());
/// assert!(MetaKey::parse("io.modelcontextprotocol/tasks").unwrap().is_reserved());
/// assert!(MetaKey::parse("com.example/").unwrap().name.is_empty());
/// assert!(MetaKey::parse("-/x").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs)]
pub struct MetaKey<'a> {
    /// Whose it is.
    pub prefix: Option<&'a str>,
    /// What it is called there; may be empty after a prefix.
    pub name: &'a str,
}

impl<'a> MetaKey<'a> {
    /// The key, if it follows the grammar.
    pub fn parse(key: &'a str) -> Option<Self> {
        let (prefix, name) = match key.split_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, key),
        };
        let labels = prefix.is_none_or(|prefix| prefix.split('.').all(is_label));
        (labels && (name.is_empty() || is_name(name))).then_some(Self { prefix, name })
    }

    /// Whether only the specification may give the key a meaning: the second label is its own.
    pub fn is_reserved(&self) -> bool {
        let second = self.prefix.and_then(|prefix| prefix.split('.').nth(1));
        matches!(second, Some("modelcontextprotocol" | "mcp"))
    }
}

fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// What is wrong with the id of an extension, which is a key of `_meta` that has both a prefix and a name.
///
/// ```
/// use sandwire_types::extension::problem;
///
/// assert_eq!(problem("com.example/notes"), None);
/// assert!(problem("notes").is_some());
/// ```
pub fn problem(id: &str) -> Option<&'static str> {
    match MetaKey::parse(id) {
        None => {
            Some("the id of an extension is a prefix of labels with dots, a slash and a name, as com.example/notes")
        }
        Some(MetaKey { prefix: None, .. }) => {
            Some("the id of an extension begins with a prefix, the name of a domain reversed, as com.example/notes")
        }
        Some(MetaKey { name: "", .. }) => {
            Some("the id of an extension has a name after its slash, as com.example/notes")
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::modern;

    #[test]
    fn the_grammar_of_keys() {
        for key in ["", "a", "1", "a-b_c.d", "x/y", "com.example/", "com.example/a.b", "a-1.b2/9", "a.b.c.d/e"] {
            assert!(MetaKey::parse(key).is_some(), "{key}");
        }
        for key in [
            "/", "/x", "1a/x", "a-/x", "-a/x", "a..b/x", ".a/x", "a./x", "a_b/x", "a/b/c", "-x", "x-", "_x", "x.",
            "a b", "ä", "a/ä", "ä/a",
        ] {
            assert!(MetaKey::parse(key).is_none(), "{key}");
        }
    }

    #[test]
    fn the_second_label_says_whose_a_key_is() {
        for key in ["io.modelcontextprotocol/x", "dev.mcp/", "org.modelcontextprotocol.api/x", "com.mcp.tools/x"] {
            assert!(MetaKey::parse(key).unwrap().is_reserved(), "{key}");
        }
        for key in ["mcp", "mcp/x", "modelcontextprotocol/x", "com.example.mcp/x", "com.mcpx/x", "com.MCP/x"] {
            assert!(!MetaKey::parse(key).unwrap().is_reserved(), "{key}");
        }
    }

    #[test]
    fn keys_of_ours_follow_the_grammar_and_are_the_specifications() {
        let keys = [
            modern::SERVER_INFO,
            modern::PROTOCOL_VERSION,
            modern::CLIENT_CAPABILITIES,
            modern::CLIENT_INFO,
            modern::LOG_LEVEL,
            modern::SUBSCRIPTION_ID,
            crate::capability::TASKS_EXTENSION,
        ];
        for key in keys {
            assert!(MetaKey::parse(key).unwrap().is_reserved(), "{key}");
            assert_eq!(problem(key), None);
        }
        for key in ["progressToken", "traceparent", "tracestate", "baggage"] {
            assert_eq!(MetaKey::parse(key).unwrap().prefix, None, "{key}");
        }
    }

    #[test]
    fn an_extension_has_a_prefix_and_a_name() {
        assert_eq!(problem("com.example/a"), None);
        for id in ["", "notes", "com.example/", "com.example", "/notes", "com example/a", "com.example/a/b"] {
            assert!(problem(id).is_some(), "{id}");
        }
    }
}
