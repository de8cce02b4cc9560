use std::borrow::Cow;

use crate::{Error, ErrorKind, MAX_DEPTH, scan};

const UNCLOSED: &str = "expected a comma or a closing bracket";
const MALFORMED_ESCAPE: &str = "malformed escape in a string";

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Reads one JSON text from front to back.
///
/// Every method checks what it passes over against the grammar, counts nesting against
/// [`MAX_DEPTH`](crate::MAX_DEPTH) without recursion of its own, and leaves the reader after the value. After an error the
/// reader's position is of no further use.
///
/// ```
/// use sandwire_json::Reader;
///
/// let mut names = Vec::new();
/// Reader::new(r#"{"tools":[{"name":"add"},{"name":"sub"}]}"#).object(&mut |key, r| match key {
///     "tools" => r.array(&mut |r| {
///         r.object(&mut |key, r| {
///             if key == "name" {
///                 names.push(r.string()?.into_owned());
///             }
///             Ok(()) // what is not read is skipped
///         })
///     }),
///     _ => Ok(()),
/// })?;
/// assert_eq!(names, ["add", "sub"]);
/// # Ok::<(), sandwire_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    member: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, member: 0, depth: 0 }
    }

    /// How many bytes have been read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Where the member begins whose name was read last: [`since`](Self::since) then gives the name as it came.
    pub fn member(&self) -> usize {
        self.member
    }

    /// The type of the next value, judged by its first byte.
    ///
    /// # Errors
    /// When no value starts here.
    pub fn peek(&mut self) -> Result<Kind, Error> {
        match self.token() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.syntax("expected a value")),
        }
    }

    /// Reads a string; borrowed when it has no escapes.
    ///
    /// The escape of half a surrogate pair, which the grammar allows and JavaScript writes, is read as
    /// U+FFFD, as browsers do wherever they make UTF-8 of a string. [`raw`](Self::raw) keeps it.
    ///
    /// # Errors
    /// When the next value is not a string, or a malformed one.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.expect(b'"', "expected a string")?;
        self.string_body()
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// When the next value is something else.
    pub fn boolean(&mut self) -> Result<bool, Error> {
        match self.peek()? {
            Kind::Bool => self.literal().map(|value| value == Some(true)),
            _ => Err(self.mistyped("expected true or false")),
        }
    }

    /// Reads `null`.
    ///
    /// # Errors
    /// When the next value is something else.
    pub fn null(&mut self) -> Result<(), Error> {
        match self.peek()? {
            Kind::Null => self.literal().map(drop),
            _ => Err(self.mistyped("expected null")),
        }
    }

    /// Reads a number and gives its text.
    ///
    /// # Errors
    /// When the next value is not a number.
    pub fn number(&mut self) -> Result<&'a str, Error> {
        match self.peek()? {
            Kind::Number => {
                let start = self.at;
                self.skip_number()?;
                Ok(self.slice(start))
            }
            _ => Err(self.mistyped("expected a number")),
        }
    }

    /// Reads a number that is an integer of 64 bits; `1.0` and `1e3` are.
    ///
    /// # Errors
    /// When the next value is not such a number.
    pub fn integer(&mut self) -> Result<i64, Error> {
        let text = self.number()?;
        crate::number::integer(text).ok_or_else(|| crate::number::out_of_range(self.at))
    }

    /// Reads an object, giving each member's name to `member`, which reads the value from the reader
    /// or leaves it alone, when it is skipped.
    ///
    /// # Errors
    /// When the next value is not an object, or what `member` says, with the member's name in its path.
    pub fn object(&mut self, member: &mut dyn FnMut(&str, &mut Reader<'a>) -> Result<(), Error>) -> Result<(), Error> {
        self.begin_object()?;
        let mut first = true;
        while let Some(key) = self.next_key(&mut first)? {
            let start = self.at;
            let read = member(&key, self);
            self.or_skip(start, read).map_err(|error| error.in_member(&key))?;
        }
        Ok(())
    }

    /// Reads an array, calling `item` for each item, which reads it or leaves it alone, when it is
    /// skipped.
    ///
    /// # Errors
    /// When the next value is not an array, or what `item` says, with the index in its path.
    pub fn array(&mut self, item: &mut dyn FnMut(&mut Reader<'a>) -> Result<(), Error>) -> Result<(), Error> {
        self.begin_array()?;
        let mut index = 0;
        while self.next_item(index == 0)? {
            let start = self.at;
            let read = item(self);
            self.or_skip(start, read).map_err(|error| error.in_item(index))?;
            index += 1;
        }
        Ok(())
    }

    /// Passes over the value that begins at `start`, if that was not read.
    fn or_skip(&mut self, start: usize, read: Result<(), Error>) -> Result<(), Error> {
        if read.is_ok() && self.at == start { self.skip() } else { read }
    }

    /// Passes over a value of any type, checking it.
    ///
    /// # Errors
    /// When it is malformed or nested too deep.
    pub fn skip(&mut self) -> Result<(), Error> {
        // One bit for each open bracket: one for an object, zero for an array.
        let mut objects = 0u128;
        let mut open = 0u32;
        loop {
            match self.token() {
                Some(b'"') => self.skip_string()?,
                Some(bracket @ (b'{' | b'[')) => {
                    if self.depth + open >= MAX_DEPTH {
                        return Err(self.too_deep());
                    }
                    self.at += 1;
                    let object = bracket == b'{';
                    let next = self.token();
                    if next == Some(if object { b'}' } else { b']' }) {
                        self.at += 1;
                    } else {
                        open += 1;
                        objects = objects << 1 | u128::from(object);
                        if object {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.skip_number()?,
                Some(b't' | b'f' | b'n') => self.literal().map(drop)?,
                _ => return Err(self.syntax("expected a value")),
            }
            loop {
                if open == 0 {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                match self.token() {
                    Some(b',') => {
                        self.at += 1;
                        if object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    _ => return Err(self.syntax(UNCLOSED)),
                }
                self.at += 1;
                open -= 1;
                objects >>= 1;
            }
        }
    }

    /// Passes over a value of any type, checking it, and gives its text.
    ///
    /// # Errors
    /// When it is malformed or nested too deep.
    pub fn raw(&mut self) -> Result<&'a str, Error> {
        self.token();
        let start = self.at;
        self.skip()?;
        Ok(self.slice(start))
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    /// When something is.
    pub fn end(&mut self) -> Result<(), Error> {
        match self.token() {
            None => Ok(()),
            Some(_) => Err(self.syntax("expected the end of the text")),
        }
    }

    /// Reads the value of member `key` from a copy of this reader, which stands before an object and
    /// stays there.
    ///
    /// # Errors
    /// When the members before it are malformed.
    pub fn look_up(&self, key: &str) -> Result<Option<&'a str>, Error> {
        let mut ahead = self.clone();
        ahead.begin_object()?;
        let mut first = true;
        while let Some(name) = ahead.next_key(&mut first)? {
            if name == key {
                return ahead.raw().map(Some);
            }
            ahead.skip()?;
        }
        Ok(None)
    }

    /// Passes over an object, given as the text of one that was read before, if it stands here.
    pub fn take(&mut self, object: &str) -> bool {
        self.token();
        let found = object.ends_with('}') && self.stands(object);
        if found {
            self.at += object.len();
        }
        found
    }

    /// An error of `kind` at this place.
    pub fn error(&self, kind: ErrorKind, message: &'static str) -> Error {
        Error::new(kind, self.at, message)
    }

    /// The text from `start`, a former [`offset`](Self::offset), to here.
    pub fn since(&self, start: usize) -> &'a str {
        self.slice(start)
    }

    pub(crate) fn begin_object(&mut self) -> Result<(), Error> {
        self.expect(b'{', "expected an object")?;
        self.enter()
    }

    pub(crate) fn begin_array(&mut self) -> Result<(), Error> {
        self.expect(b'[', "expected an array")?;
        self.enter()
    }

    /// The next member's name, leaving the reader at its value; `None` after the closing brace.
    pub(crate) fn next_key(&mut self, first: &mut bool) -> Result<Option<Cow<'a, str>>, Error> {
        match self.token() {
            Some(b'}') => {
                self.leave();
                return Ok(None);
            }
            Some(b',') if !*first => self.at += 1,
            _ if *first => *first = false,
            _ => return Err(self.syntax(UNCLOSED)),
        }
        if self.token() != Some(b'"') {
            return Err(self.syntax("expected a member name"));
        }
        self.member = self.at;
        let key = self.string_body()?;
        self.colon()?;
        self.token();
        Ok(Some(key))
    }

    /// Whether another item follows, leaving the reader at it, or after the closing bracket.
    pub(crate) fn next_item(&mut self, first: bool) -> Result<bool, Error> {
        match self.token() {
            Some(b']') => {
                self.leave();
                return Ok(false);
            }
            Some(b',') if !first => {
                self.at += 1;
                self.token();
            }
            _ if first => {}
            _ => return Err(self.syntax(UNCLOSED)),
        }
        Ok(true)
    }

    fn enter(&mut self) -> Result<(), Error> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.at += 1;
        self.depth = self.depth.saturating_sub(1);
    }

    /// The next byte that is not white space, without taking it.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(byte) if *byte > b' ' => return Some(*byte),
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    fn expect(&mut self, first: u8, message: &'static str) -> Result<(), Error> {
        if self.token() == Some(first) { Ok(()) } else { Err(self.mistyped(message)) }
    }

    /// The error for a value of another type, or for none at all.
    #[cold]
    #[inline(never)]
    fn mistyped(&mut self, message: &'static str) -> Error {
        self.peek().err().unwrap_or_else(|| self.error(ErrorKind::Type, message))
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn stands(&self, word: &str) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()))
    }

    fn literal(&mut self) -> Result<Option<bool>, Error> {
        for (word, value) in [("null", None), ("true", Some(true)), ("false", Some(false))] {
            if self.stands(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.syntax("expected a value"))
    }

    fn skip_number(&mut self) -> Result<(), Error> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            _ => self.skip_digits()?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while matches!(self.byte(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.syntax("expected a digit")) } else { Ok(()) }
    }

    #[inline]
    fn skip_key(&mut self) -> Result<(), Error> {
        if self.token() != Some(b'"') {
            return Err(self.syntax("expected a member name"));
        }
        self.skip_string()?;
        self.colon()
    }

    #[inline]
    fn colon(&mut self) -> Result<(), Error> {
        if self.token() != Some(b':') {
            return Err(self.syntax("expected a colon"));
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn skip_string(&mut self) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        let end = scan::run_end(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(());
        }
        self.at = end;
        self.skip_rest_of_string()
    }

    /// The rest of a string from a byte on that is neither plain nor its end.
    #[cold]
    fn skip_rest_of_string(&mut self) -> Result<(), Error> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape().map(drop)?,
                Some(_) => return Err(self.syntax("control character in a string")),
                None => return Err(self.syntax("unterminated string")),
            }
            self.at = scan::run_end(self.text.as_bytes(), self.at);
        }
    }

    #[inline]
    fn string_body(&mut self) -> Result<Cow<'a, str>, Error> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        self.at = scan::run_end(bytes, start);
        if bytes.get(self.at) == Some(&b'"') {
            let run = self.slice(start);
            self.at += 1;
            return Ok(Cow::Borrowed(run));
        }
        self.unescaped(start).map(Cow::Owned)
    }

    /// The string that begins at `start`, from a byte on that is neither plain nor its end.
    #[inline(never)]
    fn unescaped(&mut self, mut start: usize) -> Result<String, Error> {
        let mut text = String::with_capacity((self.at - start) * 2 + 32);
        loop {
            text.push_str(self.slice(start));
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.syntax("control character in a string")),
                None => return Err(self.syntax("unterminated string")),
            }
            start = self.at;
            self.at = scan::run_end(self.text.as_bytes(), start);
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        self.at += 1;
        let character = match self.byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.numbered(),
            _ => return Err(self.syntax(MALFORMED_ESCAPE)),
        };
        self.at += 1;
        Ok(character)
    }

    /// The character of an escape by number, or of two that are the halves of a surrogate pair.
    fn numbered(&mut self) -> Result<char, Error> {
        let mut code = self.hex()?;
        if matches!(code, 0xd800..0xdc00) && self.stands("\\u") {
            let second = self.at;
            self.at += 1;
            match self.hex()? {
                low @ 0xdc00..0xe000 => code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00)),
                _ => self.at = second,
            }
        }
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// The number of the escape whose `u` stands here.
    fn hex(&mut self) -> Result<u32, Error> {
        let mut code = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            code = code << 4 | digit.ok_or_else(|| self.syntax(MALFORMED_ESCAPE))?;
        }
        self.at += 1;
        Ok(code)
    }

    fn slice(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn syntax(&self, message: &'static str) -> Error {
        self.error(ErrorKind::Syntax, message)
    }

    #[cold]
    #[inline(never)]
    fn too_deep(&self) -> Error {
        self.error(ErrorKind::Depth, "nested too deep")
    }
}
