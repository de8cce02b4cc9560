use crate::{Raw, scan};

/// Writes one JSON text; commas are its business.
///
/// The text never holds a line break, so it can be sent as a line. That what is written is a value
/// (keys only in objects, brackets in pairs) is the caller's duty.
///
/// ```
/// let mut w = sandwire_json::Writer::new();
/// w.begin_object();
/// w.key("name");
/// w.string("add");
/// w.key("args");
/// w.begin_array();
/// w.integer(1);
/// w.raw("2.50");
/// w.end_array();
/// w.end_object();
/// assert_eq!(w.finish(), r#"{"name":"add","args":[1,2.50]}"#);
/// ```
#[derive(Clone, Debug)]
pub struct Writer {
    text: String,
    /// A value came before, at this level: the next one needs a comma.
    comma: bool,
}

/// Most messages fit without growing.
const FIRST_BYTES: usize = 128;

impl Default for Writer {
    fn default() -> Self {
        Self::with_capacity(FIRST_BYTES)
    }
}

impl Writer {
    /// An empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty writer with room for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), comma: false }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    /// The text as a [`Raw`].
    pub fn into_raw(self) -> Raw {
        Raw::from_valid(self.text)
    }

    /// Opens an object.
    pub fn begin_object(&mut self) {
        self.open('{');
    }

    /// Closes an object.
    pub fn end_object(&mut self) {
        self.close('}');
    }

    /// Opens an array.
    pub fn begin_array(&mut self) {
        self.open('[');
    }

    /// Closes an array.
    pub fn end_array(&mut self) {
        self.close(']');
    }

    /// Writes a member's name; its value comes next.
    pub fn key(&mut self, key: &str) {
        self.separate();
        self.quoted(key);
        self.text.push(':');
        self.comma = false;
    }

    /// Writes what is JSON text already up to a value, which comes next: a name that was read, with its colon, or several
    /// names and brackets.
    pub fn name(&mut self, text: &str) {
        self.separate();
        self.plain(text);
        self.comma = false;
    }

    /// Writes a string.
    pub fn string(&mut self, value: &str) {
        self.separate();
        self.quoted(value);
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) {
        self.separate();
        crate::number::push_integer(&mut self.text, value);
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// Writes a value that is JSON text already, as it came except that line breaks become spaces.
    pub fn raw(&mut self, json: &str) {
        self.separate();
        self.plain(json);
    }

    /// Writes the members of an object that is JSON text already into the object open here.
    pub fn members(&mut self, object: &str) {
        let inside = object
            .trim_ascii()
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or_default()
            .trim_ascii();
        if !inside.is_empty() {
            self.separate();
            self.plain(inside);
        }
    }

    /// Valid JSON has line breaks between tokens only.
    fn plain(&mut self, json: &str) {
        let mut rest = json;
        while let Some(at) = scan::line_break(rest.as_bytes()) {
            self.text.push_str(rest.get(..at).unwrap_or_default());
            self.text.push(' ');
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        self.text.push_str(rest);
    }

    fn open(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
        self.comma = false;
    }

    fn close(&mut self, bracket: char) {
        self.text.push(bracket);
        self.comma = true;
    }

    fn separate(&mut self) {
        if self.comma {
            self.text.push(',');
        }
        self.comma = true;
    }

    fn quoted(&mut self, value: &str) {
        self.text.reserve(value.len() + 2);
        self.text.push('"');
        let mut rest = value;
        loop {
            let end = scan::run_end(rest.as_bytes(), 0);
            let Some(byte) = rest.as_bytes().get(end) else { break };
            self.text.push_str(rest.get(..end).unwrap_or_default());
            self.escaped(*byte);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        self.text.push_str(rest);
        self.text.push('"');
    }

    #[inline(never)]
    fn escaped(&mut self, byte: u8) {
        let short = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'\n' => 'n',
            b'\r' => 'r',
            b'\t' => 't',
            0x08 => 'b',
            0x0c => 'f',
            _ => {
                self.text.push_str(if byte < 0x10 { "\\u000" } else { "\\u001" });
                let digit = byte & 0xf;
                self.text.push(char::from(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }));
                return;
            }
        };
        self.text.push('\\');
        self.text.push(short);
    }
}
