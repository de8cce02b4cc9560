/// The address that `reference`, the data of an `endpoint` event, names for a client that reads its events from `url`.
///
/// Nothing if it is of another origin (scheme, host and port), or no address at all: the client's messages and its
/// authorization must not go elsewhere.
///
/// ```
/// use sandwire_proto::http::endpoint;
///
/// let url = "https://example.com/v1/sse";
/// assert_eq!(endpoint(url, "/messages?id=1").as_deref(), Some("https://example.com/messages?id=1"));
/// assert_eq!(endpoint(url, "messages").as_deref(), Some("https://example.com/v1/messages"));
/// assert_eq!(endpoint(url, "https://example.org/messages"), None);
/// ```
#[must_use]
pub fn endpoint(url: &str, reference: &str) -> Option<String> {
    // What clients read differently, or cut out, could make them see another host.
    if reference.bytes().any(|byte| byte <= b' ' || matches!(byte, b'\\' | 0x7f)) {
        return None;
    }
    let reference = before(reference, b"#");
    let base = Address::of(before(url, b"#"))?;
    let named = match reference.strip_prefix("//") {
        Some(rest) => Some(Address::of_scheme(base.scheme, rest)),
        // A colon before any other mark ends a scheme.
        None if before(reference, b":/?").len() < before(reference, b"/?").len() => Some(Address::of(reference)?),
        None => None,
    };
    let (folder, path) = match named {
        Some(named) if named.is_in(&base) => ("", named.path),
        Some(_) => return None,
        None if reference.starts_with('/') => ("", reference),
        None if reference.starts_with('?') => (before(base.path, b"?"), reference),
        None => (folder(before(base.path, b"?")), reference),
    };
    Some([base.scheme, "://", base.authority, &without_dots(&[folder, path].concat())].concat())
}

struct Address<'a> {
    scheme: &'a str,
    authority: &'a str,
    /// Path and query.
    path: &'a str,
}

impl<'a> Address<'a> {
    fn of(url: &'a str) -> Option<Self> {
        let scheme = before(url, b":/?");
        Some(Self::of_scheme(scheme, after(url, scheme).strip_prefix("://")?))
    }

    fn of_scheme(scheme: &'a str, rest: &'a str) -> Self {
        let authority = before(rest, b"/?");
        Self { scheme, authority, path: after(rest, authority) }
    }

    fn is_in(&self, base: &Self) -> bool {
        self.scheme.eq_ignore_ascii_case(base.scheme)
            && before(self.authority, b"@") == self.authority
            && self.host().eq_ignore_ascii_case(base.host())
    }

    /// Host and port, without a port that the scheme implies.
    fn host(&self) -> &str {
        let user = before(self.authority, b"@");
        let host = after(self.authority, user).strip_prefix('@').unwrap_or(user);
        let implied = if self.scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
        host.strip_suffix(implied).or_else(|| host.strip_suffix(':')).unwrap_or(host)
    }
}

/// What stands before the first of these marks.
fn before<'a>(text: &'a str, marks: &[u8]) -> &'a str {
    let end = text.bytes().position(|byte| marks.contains(&byte));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// What stands after the beginning of a text.
fn after<'a>(text: &'a str, beginning: &str) -> &'a str {
    text.get(beginning.len()..).unwrap_or_default()
}

/// A path without its last segment.
fn folder(path: &str) -> &str {
    let end = path.bytes().rposition(|byte| byte == b'/').map_or(0, |slash| slash + 1);
    path.get(..end).unwrap_or_default()
}

/// Path and query without segments that mean this folder or the one above. Begins with a slash.
fn without_dots(path: &str) -> String {
    let mut rest = before(path, b"?");
    let query = after(path, rest);
    let mut kept = String::new();
    rest = rest.strip_prefix('/').unwrap_or(rest);
    loop {
        let segment = before(rest, b"/");
        rest = after(rest, segment);
        if segment == ".." {
            while kept.pop().is_some_and(|last| last != '/') {}
        }
        let dots = matches!(segment, "." | "..");
        if !dots || rest.is_empty() {
            kept.push('/');
        }
        if !dots {
            kept.push_str(segment);
        }
        match rest.strip_prefix('/') {
            Some(next) => rest = next,
            None => break,
        }
    }
    kept.push_str(query);
    kept
}

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn what_servers_name_is_resolved() {
        for (url, reference, expected) in [
            ("http://h/sse", "/messages/?session_id=a", "http://h/messages/?session_id=a"),
            ("http://h:3001/sse", "/message?sessionId=a", "http://h:3001/message?sessionId=a"),
            ("https://h/a/sse?key=1", "messages?s=a/b", "https://h/a/messages?s=a/b"),
            ("https://h/a/sse?key=1", "?s=a:b", "https://h/a/sse?s=a:b"),
            ("https://h/a/b/sse", "../messages", "https://h/a/messages"),
            ("https://h/a/b/", "./messages", "https://h/a/b/messages"),
            ("https://h/a/b/sse", "/x/../y/.", "https://h/y/"),
            ("https://h/a", "../../..", "https://h/"),
            ("https://h", "messages", "https://h/messages"),
            ("https://h?key=1", "messages", "https://h/messages"),
            ("https://h/sse#part", "/m#part", "https://h/m"),
            ("https://h/sse", "https://h/m?a=1", "https://h/m?a=1"),
            ("https://h/sse", "HTTPS://H:443/m", "https://h/m"),
            ("https://h:443/sse", "https://h/m", "https://h:443/m"),
            ("http://h:/sse", "http://h:80", "http://h:/"),
            ("http://[::1]:80/sse", "http://[::1]/m", "http://[::1]:80/m"),
            ("http://h/sse", "//h/m?u=http://other/", "http://h/m?u=http://other/"),
            ("http://u:p@h/sse", "http://h/m", "http://u:p@h/m"),
            ("http://h/sse", "//h?a", "http://h/?a"),
            ("http://h/a/sse", "/b:c", "http://h/b:c"),
        ] {
            assert_eq!(endpoint(url, reference).as_deref(), Some(expected), "{url} {reference}");
        }
    }

    #[test]
    fn another_origin_is_refused() {
        for reference in [
            "https://other/m",
            "http://h/m",
            "https://h:8443/m",
            "https://h.other/m",
            "https://h@other/m",
            "https://h:443@other/m",
            "https://u@h/m",
            "//other/m",
            "///m",
            "https:///m",
            "https:m",
            "https:/m",
            "javascript:alert(1)",
            "wss://h/m",
            "/\\other/m",
            "https://h\\@other/m",
            "https://h/m\r\nx: y",
            "/m n",
            "\thttps://h/m",
            "https://[h]/m",
            "messages:1",
        ] {
            assert_eq!(endpoint("https://h/sse", reference), None, "{reference}");
        }
        for url in ["", "h", "/sse", "h/sse"] {
            assert_eq!(endpoint(url, "/m"), None, "{url}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

        #[test]
        fn whatever_is_named_stays_in_its_origin(reference in r"[htps:/?#@.\\\[\]a8 %\r]{0,24}", slash in "/?") {
            let url = ["https://h:8443", &slash].concat();
            for reference in [reference.clone(), ["https://h:8443", &reference].concat()] {
                let Some(named) = endpoint(&url, &reference) else { continue };
                let path = named.strip_prefix("https://h:8443").unwrap_or_default();
                proptest::prop_assert!(path.starts_with('/'), "{}", named);
                proptest::prop_assert!(!path.contains([' ', '\\', '\r', '#']), "{}", named);
                let folders = path.split('?').next().unwrap_or_default();
                proptest::prop_assert!(!folders.split('/').any(|part| matches!(part, "." | "..")), "{}", named);
            }
        }
    }
}
