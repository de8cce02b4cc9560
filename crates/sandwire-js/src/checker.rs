//! JSON Schema for a server whose handlers are JavaScript.

use std::cell::RefCell;

use sandwire_schema::{Compiler, Pattern, Patterns, Schema};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type RegExp;

    #[wasm_bindgen(constructor, catch)]
    fn new(source: &str, flags: &str) -> Result<RegExp, JsValue>;

    #[wasm_bindgen(method)]
    fn test(this: &RegExp, text: &str) -> bool;
}

thread_local! {
    /// The regular expressions of all schemas. A server has as many as its tools have patterns.
    static EXPRESSIONS: RefCell<Vec<Option<RegExp>>> = const { RefCell::new(Vec::new()) };
}

/// The host's own regular expressions.
struct Host;

/// One of them, by its place.
struct Place(usize);

impl Patterns for Host {
    fn pattern(&self, source: &str) -> Option<Box<dyn Pattern>> {
        let expression = RegExp::new(source, "u").ok()?;
        EXPRESSIONS.with_borrow_mut(|all| {
            let free = all.iter().position(Option::is_none).unwrap_or(all.len());
            match all.get_mut(free) {
                Some(place) => *place = Some(expression),
                None => all.push(Some(expression)),
            }
            Some(Box::new(Place(free)) as Box<dyn Pattern>)
        })
    }
}

impl Pattern for Place {
    fn is_match(&self, text: &str) -> bool {
        EXPRESSIONS.with_borrow(|all| all.get(self.0).and_then(Option::as_ref).is_some_and(|one| one.test(text)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        EXPRESSIONS.with_borrow_mut(|all| {
            if let Some(place) = all.get_mut(self.0) {
                *place = None;
            }
        });
    }
}

/// A schema to hold values against.
#[derive(Debug)]
#[wasm_bindgen]
pub struct Checker(Schema);

#[wasm_bindgen]
impl Checker {
    /// Compiles the text of a schema; throws what is wrong with it.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: &str, formats: bool) -> Result<Checker, JsValue> {
        let compiled = Compiler::new().patterns(&Host).formats(formats).compile(schema);
        compiled.map(Checker).map_err(|error| JsValue::from_str(&error.to_text()))
    }

    /// What the schema does not allow about a value, which is given as JSON text.
    pub fn check(&self, json: &str) -> Option<String> {
        self.0.validate(json).err().map(|errors| errors.to_text())
    }
}
