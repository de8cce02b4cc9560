//! Values made at random from the nouns' own tables.

use sandwire_types::json::shape::{Shape, Type};
use sandwire_types::json::{Raw, Writer};

pub(crate) struct Generator {
    state: u64,
    /// How many optional members of ten there are.
    pub(crate) density: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed | 1, density: 7 }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len() as u64) as usize]
    }

    pub(crate) fn value(&mut self, kind: &Type) -> Raw {
        let mut w = Writer::new();
        self.write(kind, "", "", &mut w);
        w.into_raw()
    }

    fn write(&mut self, kind: &Type, shape: &str, key: &str, w: &mut Writer) {
        if let Some(text) = self.known(shape, key) {
            w.raw(&text);
            return;
        }
        match kind {
            Type::Any => w.raw(self.one_of(&[
                "null",
                "1.10",
                "\"x\"",
                "[1,{}]",
                r#"{"resultType":"mine"}"#,
                "12345678901234567890123",
            ])),
            Type::String => {
                let text = self.one_of(&["", "a", "é😀\n\"\\", "some longer text with nothing in it"]);
                w.string(text);
            }
            Type::Bool => w.boolean(self.below(2) == 0),
            Type::Number => {
                let text = self.one_of(&["0", "1", "42", "9007199254740993"]);
                w.raw(text);
            }
            Type::NumberOrNull => w.raw(self.one_of(&["null", "60000"])),
            Type::Id => w.raw(self.one_of(&["\"\"", "\"id\"", "0", "-1", "9007199254740993"])),
            Type::AnyObject => w.raw(self.one_of(&["{}", r#"{"a":{"b":[1,"x"]}}"#])),
            Type::Object(shape) => self.object(shape, w),
            Type::Array(item) => {
                w.begin_array();
                for _ in 0..self.below(4) {
                    self.write(item, shape, key, w);
                }
                w.end_array();
            }
            Type::OneOrMany(item) if self.below(2) == 0 => self.write(item, shape, key, w),
            Type::OneOrMany(item) => self.write(&Type::Array(item), shape, key, w),
            Type::Map(value) => {
                w.begin_object();
                for name in ["a", "b", "ç"].iter().take(self.below(4) as usize) {
                    w.key(name);
                    self.write(value, "", "", w);
                }
                w.end_object();
            }
            Type::Union(union) => {
                // The last one stands for the rest where there is no tag.
                let variants: Vec<_> =
                    if union.tag.is_empty() && union.variants.iter().any(|variant| variant.tag.is_empty()) {
                        union.variants.iter().filter(|variant| variant.tag.is_empty()).collect()
                    } else {
                        union.variants.iter().collect()
                    };
                let variant = variants[self.below(variants.len() as u64) as usize];
                if union.tag.is_empty() || variant.tag.is_empty() {
                    self.object(variant.shape, w);
                } else {
                    self.tagged(union.tag, variant.tag, variant.shape, w);
                }
            }
        }
    }

    fn object(&mut self, shape: &Shape, w: &mut Writer) {
        self.tagged("", "", shape, w);
    }

    fn tagged(&mut self, tag_key: &str, tag: &str, shape: &Shape, w: &mut Writer) {
        w.begin_object();
        if !tag_key.is_empty() {
            w.key(tag_key);
            w.string(tag);
        }
        for field in shape.fields {
            let needed = field.required || matches!(field.key, "ttl" | "ttlMs" | "elicitationId" | "requestId");
            if field.key == tag_key || !needed && self.below(10) >= self.density {
                continue;
            }
            w.key(field.key);
            self.write(&field.kind, shape.name, field.key, w);
        }
        if self.below(4) == 0 {
            w.key("x-unknown");
            w.raw("{\"kept\":1.0}");
        }
        w.end_object();
    }

    /// Members whose strings are of a few, or whose text is more than the table says.
    fn known(&mut self, shape: &str, key: &str) -> Option<String> {
        let quoted = |text: &str| Some(format!("\"{text}\""));
        match (shape, key) {
            ("ElicitRequestURLParams", "mode") => quoted("url"),
            ("ElicitRequestFormParams", "mode") => quoted("form"),
            ("RequestedSchema", "type") => quoted("object"),
            ("TextContent", "type") => quoted("text"),
            ("ImageContent", "type") => quoted("image"),
            ("AudioContent", "type") => quoted("audio"),
            ("RequestedSchema", "properties") => Some(self.form_fields()),
            ("ElicitResult", "content") => Some(r#"{"a":"x","b":1,"c":true,"d":["x","y"]}"#.into()),
            ("Tool", "inputSchema") => Some(
                self.one_of(&[
                    r#"{"type":"object"}"#,
                    r#"{"type":"object","additionalProperties":false}"#,
                    r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":true,"b":false,"c":{"type":"string"}},"required":["a"]}"#,
                ])
                .into(),
            ),
            ("Tool", "outputSchema") => Some(
                self.one_of(&[
                    r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":true},"$defs":{"A":{}}}"##,
                    r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"array","items":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"integer"}}}"##,
                    r##"{"oneOf":[{"type":"object"},{"$ref":"#"}]}"##,
                    "{}",
                ])
                .into(),
            ),
            (_, "requests") => Some("{}".into()),
            (_, "experimental" | "extensions") => Some(r#"{"a.b/c":{}}"#.into()),
            (_, "inputResponses") => Some(r#"{"who":{"action":"accept","content":{"name":"x"}}}"#.into()),
            (_, "role" | "audience") => quoted(self.one_of(&["user", "assistant"])).map(|role| if key == "audience" { format!("[{role}]") } else { role }),
            (_, "theme") => quoted(self.one_of(&["light", "dark"])),
            (_, "level") => quoted(self.one_of(&["debug", "emergency"])),
            (_, "taskSupport") => quoted("optional"),
            (_, "includeContext") => quoted("none"),
            ("ToolChoice", "mode") => quoted("auto"),
            (_, "action") => quoted(self.one_of(&["accept", "decline", "cancel"])),
            (_, "status") => quoted("working"),
            (_, "priority" | "costPriority" | "speedPriority" | "intelligencePriority" | "temperature") => {
                Some(self.one_of(&["0", "1", "0.50"]).into())
            }
            (_, "progress") => Some(self.one_of(&["0", "1.5"]).into()),
            ("CreateMessageRequestParams", "metadata") => Some("{}".into()),
            _ => None,
        }
    }

    fn form_fields(&mut self) -> String {
        let fields = [
            r#"{"type":"string","title":"T","minLength":1,"format":"email","default":"x"}"#,
            r#"{"type":"number","minimum":1,"default":2}"#,
            r#"{"type":"integer","maximum":3}"#,
            r#"{"type":"boolean","default":true}"#,
            r#"{"type":"string","enum":["a","b"],"default":"a"}"#,
            r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#,
            r#"{"type":"string","oneOf":[{"const":"a","title":"A"}],"default":"a"}"#,
            r#"{"type":"array","items":{"type":"string","enum":["a"]},"minItems":1,"default":["a"]}"#,
            r#"{"type":"array","title":"M","items":{"anyOf":[{"const":"a","title":"A"}]},"maxItems":2}"#,
        ];
        let mut w = Writer::new();
        w.begin_object();
        for (index, field) in fields.iter().enumerate() {
            if self.below(2) == 0 {
                w.key(&index.to_string());
                w.raw(field);
            }
        }
        w.end_object();
        w.finish()
    }
}
