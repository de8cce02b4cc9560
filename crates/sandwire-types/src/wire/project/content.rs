//! Content, messages and forms in the words of older versions.

use std::borrow::Cow;

use sandwire_json::{Error, Kind, Raw, Reader, Writer, find};

use super::super::splice;
use super::Projection;
use crate::model::{Described, SamplingMessageContentBlock};

/// What a block of content says, for a peer that does not know its type.
pub(super) fn in_words(tag: &str, block: &str) -> String {
    match tag {
        "resource_link" => link_in_words(block),
        "audio" => audio_in_words(block),
        _ => block.into(),
    }
}

/// A call's result that tells its structured content as text too, unless it has text already.
pub(super) fn with_structured_text(result: &Raw) -> Option<Raw> {
    let structured = find(result.as_str(), "structuredContent")?;
    let mut w = Writer::with_capacity(result.as_str().len() + structured.len() + 32);
    let mut has_text = false;
    w.begin_object();
    w.key("content");
    w.begin_array();
    let blocks = find(result.as_str(), "content").unwrap_or("[]");
    let read = Reader::new(blocks).array(&mut |r| {
        let block = r.raw()?;
        has_text |= string(block, "type").is_some_and(|kind| kind == "text");
        w.raw(block);
        Ok(())
    });
    if has_text || read.is_err() {
        return None;
    }
    w.begin_object();
    w.key("type");
    w.string("text");
    w.key("text");
    w.string(structured);
    w.end_object();
    w.end_array();
    splice(&mut w, result.as_str(), &["content"]);
    w.end_object();
    Some(w.into_raw())
}

fn link_in_words(block: &str) -> String {
    let mut text = String::new();
    if let Some(title) = string(block, "title").or_else(|| string(block, "name")) {
        text.push_str(&title);
        text.push_str(": ");
    }
    text.push_str(&string(block, "uri").unwrap_or_default());
    if let Some(description) = string(block, "description") {
        text.push('\n');
        text.push_str(&description);
    }
    text
}

fn audio_in_words(block: &str) -> String {
    let mut text = String::from("[");
    match string(block, "mimeType") {
        Some(mime_type) => text.push_str(&mime_type),
        None => text.push_str("audio"),
    }
    text.push_str(", not shown: this version of the protocol has no audio]");
    text
}

fn string<'a>(object: &'a str, key: &str) -> Option<Cow<'a, str>> {
    find(object, key).and_then(|text| Reader::new(text).string().ok())
}

impl Projection {
    /// Messages of one block each: one with an array becomes as many.
    pub(super) fn messages(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        self.w.begin_array();
        r.array(&mut |r| {
            let message = r.raw()?;
            let content = find(message, "content").unwrap_or("null");
            let mut blocks = Reader::new(content);
            if blocks.peek()? != Kind::Array {
                return self.message(message, content);
            }
            self.changed = true;
            blocks.array(&mut |block| {
                let block = block.raw()?;
                self.message(message, block)
            })
        })?;
        self.w.end_array();
        Ok(())
    }

    fn message(&mut self, message: &str, content: &str) -> Result<(), Error> {
        self.w.begin_object();
        Reader::new(message).object(&mut |key, r| {
            match key {
                "content" => {
                    self.name(r);
                    self.value(&SamplingMessageContentBlock::TYPE, &mut Reader::new(content))?;
                }
                "_meta" => self.changed = true,
                _ => {
                    self.name(r);
                    self.copy(r)?;
                }
            }
            Ok(())
        })?;
        self.w.end_object();
        Ok(())
    }

    /// A model's answer of one block: several become one text.
    pub(super) fn answer(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        if r.peek()? != Kind::Array {
            return self.value(&SamplingMessageContentBlock::TYPE, r);
        }
        self.changed = true;
        let mut blocks = Vec::new();
        r.array(&mut |r| {
            blocks.push(r.raw()?);
            Ok(())
        })?;
        if let [block] = blocks.as_slice()
            && Reader::new(block).peek()? != Kind::Array
        {
            return self.value(&SamplingMessageContentBlock::TYPE, &mut Reader::new(block));
        }
        let mut text = String::new();
        for block in blocks {
            if !text.is_empty() {
                text.push('\n');
            }
            let tag = string(block, "type").unwrap_or_default();
            match string(block, "text") {
                Some(words) if tag == "text" => text.push_str(&words),
                _ => text.push_str(&in_words(&tag, block)),
            }
        }
        self.w.begin_object();
        self.w.key("type");
        self.w.string("text");
        self.w.key("text");
        self.w.string(&text);
        self.w.end_object();
        Ok(())
    }

    /// The fields of a form of 2025-06-18: choices are of one, with their names beside the values, and
    /// only yes or no is filled in at first.
    pub(super) fn fields(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        self.w.begin_object();
        r.object(&mut |_, r| {
            self.name(r);
            let field = r.raw()?;
            if Reader::new(field).peek()? == Kind::Object {
                self.field(field)
            } else {
                self.copy(&mut Reader::new(field))
            }
        })?;
        self.w.end_object();
        Ok(())
    }

    fn field(&mut self, field: &str) -> Result<(), Error> {
        let kind = string(field, "type").unwrap_or_default();
        let items = find(field, "items").unwrap_or("{}");
        let options = match &*kind {
            "string" => find(field, "oneOf"),
            "array" => find(items, "anyOf"),
            _ => None,
        };
        let values = if kind == "array" { find(items, "enum") } else { None };
        self.w.begin_object();
        Reader::new(field).object(&mut |key, r| {
            let newer = match key {
                "default" => kind != "boolean",
                "oneOf" => kind == "string",
                "items" | "minItems" | "maxItems" => kind == "array",
                _ => false,
            };
            if newer {
                self.changed = true;
                return Ok(());
            }
            self.name(r);
            if key == "type" && kind == "array" {
                self.changed = true;
                self.w.string("string");
                return Ok(());
            }
            self.copy(r)
        })?;
        if let Some(values) = values {
            self.w.key("enum");
            self.w.raw(values);
        }
        if let Some(options) = options {
            self.w.key("enum");
            self.column(options, "const")?;
            self.w.key("enumNames");
            self.column(options, "title")?;
        }
        self.w.end_object();
        Ok(())
    }

    /// What was filled in: several chosen values become one text.
    pub(super) fn form_answers(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        self.w.begin_object();
        r.object(&mut |_, r| {
            self.name(r);
            if r.peek()? != Kind::Array {
                return self.copy(r);
            }
            self.changed = true;
            let mut text = String::new();
            r.array(&mut |r| {
                if !text.is_empty() {
                    text.push_str(", ");
                }
                match r.peek()? {
                    Kind::String => text.push_str(&r.string()?),
                    _ => text.push_str(r.raw()?),
                }
                Ok(())
            })?;
            self.w.string(&text);
            Ok(())
        })?;
        self.w.end_object();
        Ok(())
    }

    fn column(&mut self, options: &str, key: &str) -> Result<(), Error> {
        self.w.begin_array();
        Reader::new(options).array(&mut |r| {
            self.w.raw(r.look_up(key)?.unwrap_or("\"\""));
            Ok(())
        })?;
        self.w.end_array();
        Ok(())
    }
}
