//! JSON Schemas and what they describe, for versions whose tools have objects only.

use sandwire_json::{Error, Kind, Raw, Reader, Writer, find};

use super::Projection;

/// The member that a value which is no object is wrapped in.
const WRAPPER: &str = "result";

/// Whether a schema says that its values are objects, as legacy versions demand.
pub(in crate::wire) fn is_object_schema(schema: &str) -> bool {
    find(schema, "type").is_some_and(|kind| Reader::new(kind).string().is_ok_and(|kind| kind == "object"))
}

/// A call's result with its structured content wrapped.
pub(in crate::wire) fn wrap_structured(result: &Raw) -> Raw {
    let mut w = Writer::with_capacity(result.as_str().len() + 16);
    let mut wrapped = false;
    w.begin_object();
    let read = result.reader().object(&mut |key, r| {
        w.name(r.since(r.member()));
        let text = r.raw()?;
        if key == "structuredContent" {
            wrapped = true;
            w.begin_object();
            w.key(WRAPPER);
            w.raw(text);
            w.end_object();
        } else {
            w.raw(text);
        }
        Ok(())
    });
    w.end_object();
    if read.is_ok() && wrapped { w.into_raw() } else { result.clone() }
}

impl Projection {
    /// A schema of type object: in legacy versions each of its properties is described by an object.
    pub(super) fn schema(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        self.w.begin_object();
        r.object(&mut |key, r| {
            self.name(r);
            if key != "properties" || r.peek()? != Kind::Object {
                return self.copy(r);
            }
            self.w.begin_object();
            r.object(&mut |_, r| {
                self.name(r);
                if r.peek()? != Kind::Bool {
                    return self.copy(r);
                }
                self.changed = true;
                self.w.raw(if r.boolean()? { "{}" } else { r#"{"not":{}}"# });
                Ok(())
            })?;
            self.w.end_object();
            Ok(())
        })?;
        self.w.end_object();
        Ok(())
    }

    /// The schema of structured results: one that is not of type object is wrapped.
    pub(super) fn output_schema(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        let schema = r.raw()?;
        if is_object_schema(schema) {
            return self.schema(&mut Reader::new(schema));
        }
        self.changed = true;
        self.w.begin_object();
        if let Some(dialect) = find(schema, "$schema") {
            self.w.key("$schema");
            self.w.raw(dialect);
        }
        self.w.key("type");
        self.w.string("object");
        self.w.key("properties");
        self.w.begin_object();
        self.w.key(WRAPPER);
        self.moved(Place::Root, &mut Reader::new(schema))?;
        self.w.end_object();
        self.w.key("required");
        self.w.begin_array();
        self.w.string(WRAPPER);
        self.w.end_array();
        self.w.end_object();
        Ok(())
    }

    /// A schema, or a part of one, that has moved into the wrapper: pointers from the document's root
    /// follow it.
    fn moved(&mut self, place: Place, r: &mut Reader<'_>) -> Result<(), Error> {
        match r.peek()? {
            // A schema with a name of its own is a document of its own.
            Kind::Object if place != Place::Names && r.look_up("$id")?.is_some() => self.copy(r),
            Kind::Object => {
                self.w.begin_object();
                r.object(&mut |key, r| {
                    if place == Place::Root && key == "$schema" {
                        return Ok(());
                    }
                    self.name(r);
                    if place == Place::Names {
                        return self.moved(Place::Schema, r);
                    }
                    match key {
                        "$ref" | "$dynamicRef" if r.peek()? == Kind::String => {
                            let target = r.string()?;
                            self.pointer(&target);
                            Ok(())
                        }
                        "const" | "enum" | "default" | "examples" => self.copy(r),
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                            self.moved(Place::Names, r)
                        }
                        _ => self.moved(Place::Schema, r),
                    }
                })?;
                self.w.end_object();
                Ok(())
            }
            Kind::Array => {
                self.w.begin_array();
                r.array(&mut |r| self.moved(Place::Schema, r))?;
                self.w.end_array();
                Ok(())
            }
            _ => self.copy(r),
        }
    }

    fn pointer(&mut self, target: &str) {
        match target.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
                let mut moved = String::from("#/properties/");
                moved.push_str(WRAPPER);
                moved.push_str(pointer);
                self.w.string(&moved);
            }
            _ => self.w.string(target),
        }
    }
}

/// Where in a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Schema,
    /// In an object whose members are named by the author, and are schemas.
    Names,
}
