//! URI templates (RFC 6570, levels 1 to 3).

use std::fmt;

/// A URI template: `notes://{id}`, `files://{+path}`, `search://all{?query,limit}`.
///
/// All operators of levels 1 to 3 are understood: `{x}`, `{+x}`, `{#x}`, `{.x}`, `{/x}`, `{;x}`, `{?x}` and `{&x}`,
/// each with one variable or several.
///
/// ```
/// use sandwire_server::UriTemplate;
///
/// let template = UriTemplate::parse("search://{topic}{?query,limit}")?;
/// assert_eq!(template.expand(&[("topic", "rust lang"), ("limit", "3")]), "search://rust%20lang?limit=3");
/// assert_eq!(
///     template.matches("search://rust%20lang?limit=3"),
///     Some(vec![("topic", "rust lang".to_owned()), ("limit", "3".to_owned())]),
/// );
/// assert_eq!(template.matches("search://a/b"), None);
/// # Ok::<(), sandwire_server::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

/// Why a text is not a URI template of level 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    message: &'static str,
    offset: usize,
}

impl TemplateError {
    /// What is wrong.
    pub fn message(&self) -> &'static str {
        self.message
    }

    /// At which byte of the text.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for TemplateError {}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// As it is in a URI: percent-encoded.
    Literal(String),
    Expression(Operator, Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameters,
    Query,
    Continuation,
}

impl Operator {
    fn first(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved => "",
            Self::Fragment => "#",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameters => ";",
            Self::Query => "?",
            Self::Continuation => "&",
        }
    }

    fn separator(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ",",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameters => ";",
            Self::Query | Self::Continuation => "&",
        }
    }

    fn is_named(self) -> bool {
        matches!(self, Self::Parameters | Self::Query | Self::Continuation)
    }

    fn allows_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

/// Longer addresses match no template: what a peer sends must not cost much.
const MAX_MATCHED: usize = 4 * 1024;

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// It is malformed, names a variable twice, or uses a modifier of level 4 (`{x*}`, `{x:3}`).
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let offset = text.len() - rest.len();
            let fail = |message| TemplateError { message, offset };
            if let Some(inner) = rest.strip_prefix('{') {
                let (expression, after) =
                    inner.split_once('}').ok_or_else(|| fail("the template has a `{` without its `}`"))?;
                parts.push(expression_part(expression).map_err(fail)?);
                rest = after;
            } else {
                let end = rest.find('{').unwrap_or(rest.len());
                let (literal, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                parts.push(Part::Literal(literal_text(literal).map_err(fail)?));
                rest = after;
            }
        }
        let template = Self { text: text.to_owned(), parts };
        let names: Vec<&str> = template.variables().collect();
        let mut others = names.as_slice();
        while let [name, rest @ ..] = others {
            if rest.contains(name) {
                return Err(TemplateError { message: "the template names a variable twice", offset: 0 });
            }
            others = rest;
        }
        Ok(template)
    }

    /// The text it was read from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Literal(_) => &[] as &[String],
                Part::Expression(_, names) => names,
            })
            .map(String::as_str)
    }

    /// The URI for these values. Variables without a value are left out.
    pub fn expand(&self, values: &[(&str, &str)]) -> String {
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => uri.push_str(literal),
                Part::Expression(operator, names) => {
                    let mut before = operator.first();
                    for name in names {
                        let Some((_, value)) = values.iter().find(|(given, _)| given == name) else { continue };
                        uri.push_str(before);
                        before = operator.separator();
                        if operator.is_named() {
                            uri.push_str(name);
                            if !value.is_empty() || *operator != Operator::Parameters {
                                uri.push('=');
                            }
                        }
                        encode(value, operator.allows_reserved(), &mut uri);
                    }
                }
            }
        }
        uri
    }

    /// The variables' values in a URI made from this template, in the template's order, or nothing if it was not.
    ///
    /// Named variables (`{?x}`, `{&x}`, `{;x}`) may be missing and come in any order; the others must be there. A value
    /// that would climb out of a folder (`..` between slashes, also percent-encoded) never matches.
    pub fn matches(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        if uri.len() > MAX_MATCHED {
            return None;
        }
        let mut encoded = String::with_capacity(uri.len());
        encode_non_ascii(uri, &mut encoded);
        if encoded.len() > MAX_MATCHED {
            return None;
        }
        if let Some(Part::Literal(start)) = self.parts.first()
            && !encoded.starts_with(start)
        {
            return None;
        }
        let found = Found::find(&encoded, &self.tokens())?;
        let mut values = Vec::new();
        for name in self.variables() {
            let Some((_, value)) = found.0.iter().find(|(found, _)| *found == name) else { continue };
            let value = decode(value)?;
            if value.split(['/', '\\']).any(|step| step == "..") {
                return None;
            }
            values.push((name, value));
        }
        Some(values)
    }

    fn tokens(&self) -> Vec<Token<'_>> {
        let mut tokens = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => tokens.push(Token::Text(text)),
                Part::Expression(operator, names) if operator.is_named() => tokens.push(Token::Named(*operator, names)),
                Part::Expression(operator, names) => {
                    let mut before = operator.first();
                    for name in names {
                        if !before.is_empty() {
                            tokens.push(Token::Text(before));
                        }
                        tokens.push(Token::Value(name, operator.allows_reserved()));
                        before = operator.separator();
                    }
                }
            }
        }
        tokens
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

enum Token<'t> {
    Text(&'t str),
    Value(&'t str, bool),
    Named(Operator, &'t [String]),
}

impl Token<'_> {
    /// For every place of `uri`, where what the token takes from there on ends, if it fits there and `fits` says that
    /// the rest does.
    fn ends(&self, uri: &str, fits: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
        let mut ends = vec![None; uri.len() + 1];
        let places = ends.iter_mut().enumerate();
        match self {
            Self::Text(text) => {
                for (at, end) in places {
                    let is_there = uri.get(at..).is_some_and(|rest| rest.starts_with(text));
                    *end = Some(at + text.len()).filter(|end| is_there && fits(*end));
                }
            }
            Self::Value(_, reserved) => {
                let mut furthest = None;
                for ((at, end), byte) in places.zip(uri.bytes()).rev() {
                    furthest = match furthest {
                        _ if !is_allowed(byte, *reserved) => None,
                        None => Some(at + 1).filter(|end| fits(*end)),
                        furthest => furthest,
                    };
                    *end = furthest;
                }
            }
            Self::Named(operator, _) => {
                let stops: &[u8] = if *operator == Operator::Parameters { b"/?#" } else { b"#" };
                let mut stop = uri.len();
                for (at, end) in places.rev() {
                    let byte = uri.as_bytes().get(at);
                    let begins = byte.is_some_and(|byte| operator.first().as_bytes() == [*byte]);
                    *end = Some(if begins { stop } else { at }).filter(|end| fits(*end));
                    if byte.is_some_and(|byte| stops.contains(byte)) {
                        stop = at;
                    }
                }
            }
        }
        ends
    }
}

/// The values in an address, percent-encoded, by name.
struct Found<'t, 'u>(Vec<(&'t str, &'u str)>);

impl<'t, 'u> Found<'t, 'u> {
    /// Each value is as long as it can be, the first ones first. What follows is looked at before what it follows, so
    /// that every place is looked at once for each token, whatever the address is.
    fn find(uri: &'u str, tokens: &[Token<'t>]) -> Option<Self> {
        let mut rows: Vec<Vec<Option<usize>>> = Vec::with_capacity(tokens.len());
        for token in tokens.iter().rev() {
            let row = match rows.last() {
                Some(next) => token.ends(uri, |at| next.get(at).is_some_and(Option::is_some)),
                None => token.ends(uri, |at| at == uri.len()),
            };
            rows.push(row);
        }
        let mut found = Vec::new();
        let mut at = 0;
        for (token, row) in tokens.iter().zip(rows.iter().rev()) {
            let end = (*row.get(at)?)?;
            let taken = uri.get(at..end)?;
            match *token {
                Token::Text(_) => {}
                Token::Value(name, _) => found.push((name, taken)),
                Token::Named(operator, names) => {
                    for pair in taken.get(1..).unwrap_or_default().split(operator.separator()) {
                        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                        if let Some(name) = names.iter().find(|known| *known == name) {
                            found.push((name, value));
                        }
                    }
                }
            }
            at = end;
        }
        (at == uri.len()).then_some(Self(found))
    }
}

fn expression_part(expression: &str) -> Result<Part, &'static str> {
    let mut names = expression;
    let mut operator = Operator::Simple;
    for (sign, meaning) in [
        ("+", Operator::Reserved),
        ("#", Operator::Fragment),
        (".", Operator::Label),
        ("/", Operator::Path),
        (";", Operator::Parameters),
        ("?", Operator::Query),
        ("&", Operator::Continuation),
    ] {
        if let Some(rest) = expression.strip_prefix(sign) {
            (operator, names) = (meaning, rest);
        }
    }
    if names.starts_with(['=', ',', '!', '@', '|']) {
        return Err("the template uses an operator that RFC 6570 keeps for later");
    }
    let names = names.split(',').map(variable).collect::<Result<_, _>>()?;
    Ok(Part::Expression(operator, names))
}

fn variable(name: &str) -> Result<String, &'static str> {
    if name.is_empty() {
        return Err("the template has a variable without a name");
    }
    if name.contains(['*', ':']) {
        return Err("the template uses a modifier of level 4 (`*` or `:`); levels 1 to 3 are understood");
    }
    let dotted = !name.starts_with('.') && !name.ends_with('.') && !name.contains("..");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if dotted && name.bytes().all(plain) {
        Ok(name.to_owned())
    } else {
        Err("a variable of the template has a character other than letters, digits, `_` and `.` in its name")
    }
}

fn literal_text(literal: &str) -> Result<String, &'static str> {
    if literal.bytes().any(|byte| byte <= b' ' || matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|' | 127))
    {
        return Err("the template has a character that no URI may contain");
    }
    if literal.contains('}') {
        return Err("the template has a `}` without its `{`");
    }
    let mut after_percent = literal.split('%').skip(1);
    if !after_percent.all(|rest| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2) {
        return Err("the template has a `%` without two hexadecimal digits");
    }
    let mut text = String::new();
    encode_non_ascii(literal, &mut text);
    Ok(text)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

fn is_allowed(byte: u8, reserved: bool) -> bool {
    is_unreserved(byte) || byte == b'%' || (reserved && is_reserved(byte))
}

fn encode(value: &str, reserved: bool, uri: &mut String) {
    let bytes = value.as_bytes();
    for (at, byte) in bytes.iter().copied().enumerate() {
        let triplet = || bytes.iter().skip(at + 1).take(2).filter(|digit| digit.is_ascii_hexdigit()).count() == 2;
        if is_unreserved(byte) || (reserved && (is_reserved(byte) || (byte == b'%' && triplet()))) {
            uri.push(char::from(byte));
        } else {
            percent(byte, uri);
        }
    }
}

fn encode_non_ascii(text: &str, uri: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii() { uri.push(char::from(byte)) } else { percent(byte, uri) }
    }
}

fn percent(byte: u8, uri: &mut String) {
    uri.push('%');
    for digit in [byte >> 4, byte & 15] {
        uri.push(char::from(if digit < 10 { b'0' + digit } else { b'A' + digit - 10 }));
    }
}

fn decode(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [byte, others @ ..] = rest {
        rest = others;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let [high, low, others @ ..] = rest else { return None };
        bytes.push(hex(*high)? << 4 | hex(*low)?);
        rest = others;
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
