//! The head of a response as it goes out.

use std::io::Write;

use sandwire_proto::http::ResponseHead;

use super::clock::Calendar;

/// How a client finds the end of a response's body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// There is none, whatever the head says.
    Bodiless,
    /// After so many bytes.
    Length(usize),
    /// Where the last chunk says so.
    Chunked,
    /// Where the connection ends.
    Closed,
}

/// Writes a head. Fields that are the connection's own, or that cannot be written, are left out.
pub(super) fn write(to: &mut Vec<u8>, head: &ResponseHead, ending: Ending, keep_alive: bool, calendar: &Calendar) {
    let _ = write!(to, "HTTP/1.1 {} {}\r\ndate: ", head.status, reason(head.status));
    calendar.write(to);
    for (name, value) in head.headers.iter().filter(|(name, value)| is_writable(name, value)) {
        for part in [b"\r\n", name.as_bytes(), b": ", value.as_bytes()] {
            to.extend_from_slice(part);
        }
    }
    let _ = match ending {
        Ending::Length(length) => write!(to, "\r\ncontent-length: {length}"),
        Ending::Chunked => write!(to, "\r\ntransfer-encoding: chunked"),
        Ending::Bodiless | Ending::Closed => Ok(()),
    };
    to.extend_from_slice(if keep_alive { b"\r\n\r\n" } else { b"\r\nconnection: close\r\n\r\n" });
}

fn is_writable(name: &str, value: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte);
    let is_own = match name.len() {
        4 => name.eq_ignore_ascii_case("date"),
        10 => name.eq_ignore_ascii_case("connection"),
        14 => name.eq_ignore_ascii_case("content-length"),
        17 => name.eq_ignore_ascii_case("transfer-encoding"),
        _ => false,
    };
    !is_own
        && !name.is_empty()
        && name.bytes().all(is_token)
        && value.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(head: &ResponseHead, ending: Ending, keep_alive: bool) -> String {
        let mut text = Vec::new();
        write(&mut text, head, ending, keep_alive, &Calendar::default());
        let text = String::from_utf8(text).unwrap();
        let (before, rest) = text.split_once("date: ").unwrap();
        format!("{before}{}", rest.get(29..).unwrap())
    }

    #[test]
    fn a_head_says_how_its_body_ends() {
        let mut head = ResponseHead::new(200);
        head.headers.push("x", "1");
        assert_eq!(written(&head, Ending::Length(7), true), "HTTP/1.1 200 OK\r\n\r\nx: 1\r\ncontent-length: 7\r\n\r\n");
        assert!(written(&head, Ending::Chunked, true).ends_with("\r\ntransfer-encoding: chunked\r\n\r\n"));
        assert!(written(&head, Ending::Closed, false).ends_with("\r\nx: 1\r\nconnection: close\r\n\r\n"));
        assert_eq!(written(&ResponseHead::new(204), Ending::Bodiless, true), "HTTP/1.1 204 No Content\r\n\r\n\r\n");
    }

    #[test]
    fn a_field_ends_no_head_and_frames_no_body() {
        let mut head = ResponseHead::new(299);
        for (name, value) in [
            ("x", "a\r\nb: c"),
            ("y\r\n", "a"),
            ("", "a"),
            ("Content-Length", "1"),
            ("Transfer-Encoding", "chunked"),
            ("Connection", "close"),
            ("Date", "now"),
        ] {
            head.headers.push(name, value);
        }
        head.headers.push("z", "tab\tand é");
        assert_eq!(written(&head, Ending::Bodiless, true), "HTTP/1.1 299 \r\n\r\nz: tab\tand é\r\n\r\n");
    }
}
