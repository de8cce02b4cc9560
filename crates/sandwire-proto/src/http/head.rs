use std::borrow::Cow;

/// An HTTP request method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
    /// `OPTIONS`
    Options,
    /// Any other, as it came.
    Other(Box<str>),
}

impl Verb {
    /// The method's name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Verb {
    fn from(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "POST" => Self::Post,
            "DELETE" => Self::Delete,
            "OPTIONS" => Self::Options,
            other => Self::Other(other.into()),
        }
    }
}

/// Header fields in order. Names compare without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(Cow<'static, str>, String)>);

impl Headers {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// No fields, with room for so many.
    #[must_use]
    pub fn with_capacity(fields: usize) -> Self {
        Self(Vec::with_capacity(fields))
    }

    /// The first value of `name`, without white space around it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Every value of `name`.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter().filter(move |(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Adds a field, keeping others of the same name.
    pub fn push(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// Sets a field, replacing others of the same name.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        let name = name.into();
        self.remove(&name);
        self.push(name, value);
    }

    /// Removes every field of this name.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(have, _)| !have.eq_ignore_ascii_case(name));
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, value.trim_ascii()))
    }

    /// How many fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The media type of the body: the `Content-Type` without its parameters.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        let value = self.get(names::CONTENT_TYPE)?;
        let end = value.bytes().position(|byte| byte == b';').unwrap_or(value.len());
        value.get(..end).map(str::trim_ascii)
    }
}

impl<N: Into<Cow<'static, str>>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        Self(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl IntoIterator for Headers {
    type Item = (Cow<'static, str>, String);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The head of an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct RequestHead {
    /// The request method.
    pub method: Verb,
    /// Path and query as the request line has them. A client leaves it empty: its link knows the URL.
    pub path: String,
    /// The header fields.
    pub headers: Headers,
}

impl RequestHead {
    /// A head without fields and path.
    #[must_use]
    pub const fn new(method: Verb) -> Self {
        Self { method, path: String::new(), headers: Headers::new() }
    }
}

/// The head of an HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub headers: Headers,
}

impl ResponseHead {
    /// A head without fields.
    #[must_use]
    pub const fn new(status: u16) -> Self {
        Self { status, headers: Headers::new() }
    }

    /// Whether the status says success.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

/// The names of the header fields the protocol uses, in lower case.
pub mod names {
    #![allow(missing_docs)]
    pub const ACCEPT: &str = "accept";
    pub const ALLOW: &str = "allow";
    pub const CONTENT_TYPE: &str = "content-type";
    pub const LAST_EVENT_ID: &str = "last-event-id";
    pub const METHOD: &str = "mcp-method";
    pub const NAME: &str = "mcp-name";
    pub const PARAM_PREFIX: &str = "mcp-param-";
    pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
    pub const RETRY_AFTER: &str = "retry-after";
    pub const SESSION_ID: &str = "mcp-session-id";
    pub const WWW_AUTHENTICATE: &str = "www-authenticate";
}
