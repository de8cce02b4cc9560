//! References to schemas, resolved as RFC 3986 says.

/// The parts of a reference before its fragment.
#[derive(Clone, Copy, Default)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

/// What stands before the first `#`, and the fragment after it.
pub(crate) fn split(reference: &str) -> (&str, &str) {
    cut(reference, b'#').unwrap_or((reference, ""))
}

/// What stands before and after the first of an ASCII character.
#[inline(never)]
pub(crate) fn cut(text: &str, at: u8) -> Option<(&str, &str)> {
    let place = text.bytes().position(|byte| byte == at)?;
    Some((text.get(..place)?, text.get(place + 1..)?))
}

fn parts(mut rest: &str) -> Parts<'_> {
    let mut parts = Parts::default();
    if let Some((scheme, after)) = cut(rest, b':') {
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
        if is_scheme {
            (parts.scheme, rest) = (Some(scheme), after);
        }
    }
    if let Some((before, query)) = cut(rest, b'?') {
        (rest, parts.query) = (before, Some(query));
    }
    if let Some(after) = rest.strip_prefix("//") {
        let end = after.bytes().position(|byte| byte == b'/').unwrap_or(after.len());
        let (authority, path) = after.split_at_checked(end).unwrap_or((after, ""));
        (parts.authority, rest) = (Some(authority), path);
    }
    parts.path = rest;
    parts
}

/// The address that a reference without fragment stands for, read at `base`.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let base = parts(base);
    let mut target = parts(reference);
    let mut path = String::new();
    if target.scheme.is_none() {
        target.scheme = base.scheme;
        if target.authority.is_none() {
            target.authority = base.authority;
            if target.path.is_empty() {
                target.path = base.path;
                target.query = target.query.or(base.query);
            } else if !target.path.starts_with('/') {
                match base.path.bytes().rposition(|byte| byte == b'/').and_then(|end| base.path.get(..=end)) {
                    Some(folder) => path.push_str(folder),
                    None if base.authority.is_some() => path.push('/'),
                    None => {}
                }
            }
        }
    }
    path.push_str(target.path);
    let mut uri = String::new();
    if let Some(scheme) = target.scheme {
        uri.push_str(scheme);
        uri.push(':');
    }
    if let Some(authority) = target.authority {
        uri.push_str("//");
        uri.push_str(authority);
    }
    push_without_dots(&mut uri, &path);
    if let Some(query) = target.query {
        uri.push('?');
        uri.push_str(query);
    }
    uri
}

/// Adds a path, with its `.` and `..` carried out.
fn push_without_dots(uri: &mut String, path: &str) {
    let mut segments: Vec<&str> = Vec::new();
    let mut open = false;
    let mut rest = Some(path);
    while let Some(path) = rest {
        let (segment, after) = cut(path, b'/').map_or((path, None), |(segment, after)| (segment, Some(after)));
        rest = after;
        open = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." if segments.len() > 1 || segments.first().is_some_and(|first| !first.is_empty()) => {
                segments.pop();
            }
            ".." => {}
            other => segments.push(other),
        }
    }
    if open {
        segments.push("");
    }
    for (index, segment) in segments.iter().enumerate() {
        if index > 0 {
            uri.push('/');
        }
        uri.push_str(segment);
    }
}

/// A fragment or a token of a pointer with its `%41` carried out.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let hex = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        rest = after;
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high << 4 | low) as u8);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// A token of a JSON pointer with its `~1` and `~0` carried out.
pub(crate) fn unescaped(token: &str) -> String {
    let mut text = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        match (character, characters.as_str().bytes().next()) {
            ('~', Some(digit @ (b'0' | b'1'))) => {
                text.push(if digit == b'0' { '~' } else { '/' });
                characters.next();
            }
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_the_rfc_says() {
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference), expected, "{reference}");
        }
        assert_eq!(resolve("", "node.json"), "node.json");
        assert_eq!(resolve("http://host", "x"), "http://host/x");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
        assert_eq!(resolve("http://a/b", "urn:uuid:1"), "urn:uuid:1");
    }

    #[test]
    fn fragments_are_decoded() {
        assert_eq!(decoded("a%25b%22%C3%A4"), "a%b\"ä");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%ff"), "%ff");
    }
}
