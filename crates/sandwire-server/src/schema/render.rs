//! From a [`Node`] to JSON text, by functions that run at compile time for derived types.

use super::{Direction, Field, Node, Presence};
use sandwire_json::Raw;

const MAX_DEFINITIONS: usize = 32;

/// How many bytes the schema has, or 0 when it is only known at run time.
#[doc(hidden)]
pub const fn length(node: &Node, direction: Direction) -> usize {
    let mut out = Out::new(&mut [], direction);
    out.root(node);
    if out.dynamic > 0 { 0 } else { out.at }
}

/// The schema's bytes; `N` is its [`length`].
#[doc(hidden)]
pub const fn bytes<const N: usize>(node: &Node, direction: Direction) -> [u8; N] {
    let mut bytes = [0; N];
    let mut out = Out::new(&mut bytes, direction);
    out.root(node);
    bytes
}

/// The schema's text, or `None` when it is only known at run time.
#[doc(hidden)]
pub const fn text(bytes: &'static [u8]) -> Option<&'static str> {
    match str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

pub(super) fn at_run_time(node: &Node, direction: Direction) -> Raw {
    made(node, direction, false)
}

/// The schema of what can be read as a type: what may be left out may be null, too, which clients are not told.
#[cfg(feature = "schema")]
pub(super) fn readable(node: &Node) -> Raw {
    made(node, Direction::Input, true)
}

fn made(node: &Node, direction: Direction, nulls: bool) -> Raw {
    let mut count = Out { nulls, ..Out::new(&mut [], direction) };
    count.root(node);
    let mut bytes = vec![0; count.at];
    let mut out = Out { nulls, ..Out::new(&mut bytes, direction) };
    out.root(node);
    #[cfg(feature = "schemars")]
    let bytes = super::schemars::fill_in(&out.dynamics, out.bytes, direction);
    Raw::from_valid(String::from_utf8(bytes).unwrap_or_default())
}

struct Out<'a> {
    bytes: &'a mut [u8],
    at: usize,
    last: u8,
    direction: Direction,
    nullable: bool,
    /// Whether what may be left out of an input may be null, too.
    nulls: bool,
    dynamic: usize,
    #[cfg(feature = "schemars")]
    dynamics: super::schemars::Dynamics,
    definitions: [Option<(&'static str, &'static Node)>; MAX_DEFINITIONS],
    defined: usize,
}

impl<'a> Out<'a> {
    const fn new(bytes: &'a mut [u8], direction: Direction) -> Out<'a> {
        Out {
            bytes,
            at: 0,
            last: 0,
            direction,
            nullable: false,
            nulls: false,
            dynamic: 0,
            #[cfg(feature = "schemars")]
            dynamics: super::schemars::NO_DYNAMICS,
            definitions: [None; MAX_DEFINITIONS],
            defined: 0,
        }
    }

    const fn byte(&mut self, byte: u8) {
        if self.at < self.bytes.len() {
            self.bytes[self.at] = byte;
        }
        self.at += 1;
        self.last = byte;
    }

    const fn json(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let [byte, others @ ..] = rest {
            self.byte(*byte);
            rest = others;
        }
    }

    const fn string(&mut self, text: &str) {
        self.byte(b'"');
        let mut rest = text.as_bytes();
        while let [byte, others @ ..] = rest {
            match *byte {
                b'"' => self.json("\\\""),
                b'\\' => self.json("\\\\"),
                b'\n' => self.json("\\n"),
                b'\r' => self.json("\\r"),
                b'\t' => self.json("\\t"),
                control @ 0..0x20 => {
                    self.json(if control < 0x10 { "\\u000" } else { "\\u001" });
                    self.byte(hex(control % 16));
                }
                byte => self.byte(byte),
            }
            rest = others;
        }
        self.byte(b'"');
    }

    const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8);
    }

    const fn comma(&mut self) {
        if !matches!(self.last, b'{' | b'[') {
            self.byte(b',');
        }
    }

    const fn key(&mut self, key: &str) {
        self.comma();
        self.string(key);
        self.byte(b':');
    }

    const fn rules(&mut self, rules: &str) {
        if !rules.is_empty() {
            self.comma();
            self.json(rules);
        }
    }

    const fn description(&mut self, doc: &str) {
        if !doc.is_empty() {
            self.key("description");
            self.string(doc);
        }
    }

    const fn kind(&mut self, kind: &str) {
        self.key("type");
        if self.nullable {
            self.nullable = false;
            self.byte(b'[');
            self.string(kind);
            self.json(",\"null\"]");
        } else {
            self.string(kind);
        }
    }

    const fn root(&mut self, node: &Node) {
        self.byte(b'{');
        match node.undocumented() {
            Node::Recursive { name, node } => {
                self.define(name, node);
                self.members(node);
            }
            node => self.members(node),
        }
        if matches!(self.direction, Direction::Output) {
            self.description(node.doc());
        }
        if self.defined > 0 {
            self.key("$defs");
            self.byte(b'{');
            let mut index = 0;
            while index < self.defined && index < MAX_DEFINITIONS {
                if let Some((name, node)) = self.definitions[index] {
                    self.key(name);
                    self.schema(node);
                }
                index += 1;
            }
            self.byte(b'}');
        }
        self.byte(b'}');
    }

    const fn schema(&mut self, node: &Node) {
        self.byte(b'{');
        self.members(node);
        self.byte(b'}');
    }

    const fn schemas(&mut self, nodes: &[&'static Node]) {
        self.byte(b'[');
        let mut rest = nodes;
        while let [first, others @ ..] = rest {
            self.comma();
            self.schema(first);
            rest = others;
        }
        self.byte(b']');
    }

    const fn members(&mut self, node: &Node) {
        match node {
            Node::Any => {}
            Node::Scalar { kind, rules } => {
                self.kind(kind);
                self.rules(rules);
            }
            Node::Strings(values) => {
                self.kind("string");
                self.key("enum");
                self.byte(b'[');
                let mut rest = *values;
                while let [first, others @ ..] = rest {
                    self.comma();
                    self.string(first);
                    rest = others;
                }
                self.byte(b']');
            }
            Node::Const(value) => {
                self.kind("string");
                self.key("const");
                self.string(value);
            }
            Node::Nullable(node) => self.nullable(node),
            Node::Array { items, length, unique } => {
                self.kind("array");
                self.key("items");
                self.schema(items);
                if let Some(length) = length {
                    self.key("minItems");
                    self.number(*length);
                    self.key("maxItems");
                    self.number(*length);
                }
                if *unique {
                    self.rules("\"uniqueItems\":true");
                }
            }
            Node::Tuple(nodes) => {
                self.kind("array");
                self.key("prefixItems");
                self.schemas(nodes);
                self.key("minItems");
                self.number(nodes.len());
                self.key("maxItems");
                self.number(nodes.len());
            }
            Node::Map(values) => {
                self.kind("object");
                self.key("additionalProperties");
                self.schema(values);
            }
            Node::Object { fields, closed } => self.object(None, fields, *closed),
            Node::OneOf(nodes) => self.choice(node, "oneOf", nodes),
            Node::AnyOf(nodes) => self.choice(node, "anyOf", nodes),
            Node::Tagged { tag, value, node } => match node.undocumented() {
                Node::Object { fields, closed } => self.object(Some((tag, value)), fields, *closed),
                node => {
                    self.object(Some((tag, value)), &[], false);
                    self.key("allOf");
                    self.byte(b'[');
                    self.schema(node);
                    self.byte(b']');
                }
            },
            Node::Documented { doc, node } => {
                self.members(node);
                self.description(doc);
            }
            Node::Recursive { name, node } => {
                self.define(name, node);
                self.reference(name);
            }
            Node::Ref(name) => self.reference(name),
            #[cfg(feature = "schemars")]
            Node::Dynamic(schema) => {
                self.comma();
                self.byte(super::schemars::PLACE);
                if self.dynamic < self.dynamics.len() {
                    self.dynamics[self.dynamic] = Some(*schema);
                }
                self.dynamic += 1;
            }
        }
    }

    const fn nullable(&mut self, node: &Node) {
        match node.non_null() {
            Node::Any => {}
            node @ (Node::Scalar { .. } | Node::Array { .. } | Node::Tuple(_) | Node::Map(_) | Node::Object { .. }) => {
                self.nullable = true;
                self.members(node);
            }
            node => {
                self.key("anyOf");
                self.byte(b'[');
                self.schema(node);
                self.json(",{\"type\":\"null\"}]");
            }
        }
    }

    const fn choice(&mut self, node: &Node, keyword: &str, nodes: &[&'static Node]) {
        if node.is_object() {
            self.kind("object");
        }
        self.key(keyword);
        self.schemas(nodes);
    }

    const fn object(&mut self, tag: Option<(&str, &'static str)>, fields: &[Field], closed: bool) {
        self.kind("object");
        if tag.is_some() || !fields.is_empty() {
            self.key("properties");
            self.byte(b'{');
            if let Some((tag, value)) = tag {
                self.key(tag);
                self.schema(&Node::Const(value));
            }
            let mut rest = fields;
            while let [field, others @ ..] = rest {
                self.property(field);
                rest = others;
            }
            self.byte(b'}');
            self.required(tag, fields);
        }
        if closed {
            self.rules("\"additionalProperties\":false");
        }
    }

    const fn property(&mut self, field: &Field) {
        if matches!(self.presence(field), Presence::Absent) {
            return;
        }
        self.key(field.name);
        self.byte(b'{');
        let node = match self.direction {
            Direction::Input if self.nulls => field.node.undocumented(),
            Direction::Input => field.node.non_null(),
            Direction::Output if matches!(field.output, Presence::Optional) => field.node.non_null(),
            Direction::Output => field.node.undocumented(),
        };
        match node {
            Node::Scalar { kind, rules } if restates(field.rules, rules) => self.kind(kind),
            node => self.members(node),
        }
        self.rules(field.rules);
        self.description(field.description());
        self.byte(b'}');
    }

    const fn presence(&self, field: &Field) -> Presence {
        match self.direction {
            Direction::Input if field.is_required() => Presence::Required,
            Direction::Input if matches!(field.input, Presence::Required) => Presence::Optional,
            Direction::Input => field.input,
            Direction::Output => field.output,
        }
    }

    const fn required(&mut self, tag: Option<(&str, &str)>, fields: &[Field]) {
        let mut open = false;
        if let Some((tag, _)) = tag {
            self.key("required");
            self.byte(b'[');
            self.string(tag);
            open = true;
        }
        let mut rest = fields;
        while let [field, others @ ..] = rest {
            if matches!(self.presence(field), Presence::Required) {
                if !open {
                    self.key("required");
                    self.byte(b'[');
                    open = true;
                }
                self.comma();
                self.string(field.name);
            }
            rest = others;
        }
        if open {
            self.byte(b']');
        }
    }

    const fn define(&mut self, name: &'static str, node: &'static Node) {
        let mut index = 0;
        while index < self.defined {
            if let Some((known, _)) = self.definitions[index]
                && same(known, name)
            {
                return;
            }
            index += 1;
        }
        assert!(index < MAX_DEFINITIONS, "a schema holds at most 32 types that contain themselves");
        self.definitions[index] = Some((name, node));
        self.defined += 1;
    }

    const fn reference(&mut self, name: &str) {
        self.comma();
        self.json("\"$ref\":\"#/$defs/");
        self.json(name);
        self.byte(b'"');
    }
}

const fn hex(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
}

/// Whether `rules` has the keyword that `others` begin with, and so stands in for them.
const fn restates(rules: &str, others: &str) -> bool {
    let (mut rules, others) = (rules.as_bytes(), others.as_bytes());
    while !rules.is_empty() {
        let mut rest = (rules, others);
        while let ([a, left @ ..], [b, right @ ..]) = rest {
            if *a != *b {
                break;
            }
            if *a == b':' {
                return true;
            }
            rest = (left, right);
        }
        let [_, left @ ..] = rules else { break };
        rules = left;
    }
    false
}

pub(super) const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([first, rest @ ..], [other, others @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (rest, others);
    }
    a.is_empty() && b.is_empty()
}
