//! The formats that can be checked: those of forms.

use crate::uri::cut;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => date(text.as_bytes()) == Some(&[]),
            Self::DateTime => is_date_time(text.as_bytes()),
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Email => "must be an email address, as in name@example.com",
            Self::Uri => "must be a URI with its scheme, as in https://example.com/",
            Self::Date => "must be a date, as in 2026-07-28",
            Self::DateTime => "must be a date and a time with its zone, as in 2026-07-28T12:30:00Z",
        }
    }
}

/// Takes a number of a fixed count of digits.
fn digits(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (number, rest) = text.split_at_checked(count)?;
    number.iter().all(u8::is_ascii_digit).then(|| {
        let value = number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        (value, rest)
    })
}

fn after<'a>(text: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    match text {
        [first, rest @ ..] if wanted.contains(first) => Some(rest),
        _ => None,
    }
}

/// Takes a date of RFC 3339, and gives what follows.
fn date(text: &[u8]) -> Option<&[u8]> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(after(rest, b"-")?, 2)?;
    let (day, rest) = digits(after(rest, b"-")?, 2)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day).then_some(rest)
}

fn is_date_time(text: &[u8]) -> bool {
    let time = || {
        let (hour, rest) = digits(after(date(text)?, b"Tt")?, 2)?;
        let (minute, rest) = digits(after(rest, b":")?, 2)?;
        let (second, mut rest) = digits(after(rest, b":")?, 2)?;
        if let Some(fraction) = after(rest, b".") {
            let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest = fraction.get(count..).filter(|_| count > 0)?;
        }
        let minutes_of_day = i64::from(hour) * 60 + i64::from(minute);
        let offset = match rest {
            b"Z" | b"z" => 0,
            [sign @ (b'+' | b'-'), zone @ ..] => {
                let (hours, zone) = digits(zone, 2)?;
                let (minutes, zone) = digits(after(zone, b":")?, 2)?;
                if hours > 23 || minutes > 59 || !zone.is_empty() {
                    return None;
                }
                let offset = i64::from(hours) * 60 + i64::from(minutes);
                if *sign == b'+' { offset } else { -offset }
            }
            _ => return None,
        };
        // A leap second ends a day of UTC.
        let leap = second == 60 && (minutes_of_day - offset).rem_euclid(24 * 60) == 24 * 60 - 1;
        (hour < 24 && minute < 60 && (second < 60 || leap)).then_some(())
    };
    time().is_some()
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    let quoted = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let local_fits = match quoted {
        Some(quoted) => is_quoted(quoted.as_bytes()),
        None => local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom)),
    };
    let address = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let domain_fits = match address {
        Some(address) => match address.strip_prefix("IPv6:") {
            Some(address) => address.parse::<core::net::Ipv6Addr>().is_ok(),
            None => address.parse::<core::net::Ipv4Addr>().is_ok(),
        },
        None => domain.split('.').all(is_label) && domain.len() <= 255,
    };
    local_fits && domain_fits
}

fn is_quoted(mut text: &[u8]) -> bool {
    loop {
        text = match text {
            [] => return true,
            [b'\\', b' '..=b'~', rest @ ..] => rest,
            [b'"' | b'\\', ..] => return false,
            [b' '..=b'~', rest @ ..] => rest,
            _ => return false,
        };
    }
}

fn is_label(label: &str) -> bool {
    let edges = label.starts_with('-') || label.ends_with('-');
    let plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    !label.is_empty() && label.len() <= 63 && !edges && plain
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = cut(text, b':') else {
        return false;
    };
    let scheme_fits = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = cut(rest, b'#').unwrap_or((rest, ""));
    let (rest, query) = cut(rest, b'?').unwrap_or((rest, ""));
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) => after
            .split_at_checked(after.bytes().position(|byte| byte == b'/').unwrap_or(after.len()))
            .unwrap_or((after, "")),
        None => ("", rest),
    };
    let authority_fits = {
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (host, ""),
        };
        let host_fits = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => {
                address.parse::<core::net::Ipv6Addr>().is_ok()
                    || address.starts_with(['v', 'V']) && has_only(address, b":")
            }
            None => has_only(host, b""),
        };
        host_fits && has_only(user, b":") && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    scheme_fits && authority_fits && has_only(path, b":@/") && has_only(query, b":@/?") && has_only(fragment, b":@/?")
}

/// Whether a text has only characters that stand for themselves in a URI, those of `more`, and whole escapes.
fn has_only(text: &str, more: &[u8]) -> bool {
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return true,
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [byte, rest @ ..]
                if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) || more.contains(byte) =>
            {
                rest
            }
            _ => return false,
        };
    }
}
