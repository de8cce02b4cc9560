//! JSON Schema as a module of its own. The other side is `npm/src/schema.ts`.
//!
//! A text that goes out is a place in this module's memory, read before the call returns.

use std::cell::RefCell;

use sandwire_json::find;
use sandwire_schema::{Compiler, Pattern, Patterns, Schema};

use crate::room::text;

mod imports {
    #[link(wasm_import_module = "js")]
    unsafe extern "C" {
        pub(super) fn pattern(at: *const u8, length: usize) -> u32;
        pub(super) fn matches(pattern: u32, at: *const u8, length: usize) -> u32;
        pub(super) safe fn drop(pattern: u32);
        pub(super) fn said(
            path: *const u8,
            path_length: usize,
            keyword: *const u8,
            keyword_length: usize,
            message: *const u8,
            message_length: usize,
        );
    }
}

/// The host's own regular expressions.
struct Host;

/// One of them, by its number.
struct RegExp(u32);

impl Patterns for Host {
    fn pattern(&self, source: &str) -> Option<Box<dyn Pattern>> {
        // SAFETY: the place is a text that lives until the call returns.
        let number = unsafe { imports::pattern(source.as_ptr(), source.len()) };
        if number == 0 { None } else { Some(Box::new(RegExp(number))) }
    }
}

impl Pattern for RegExp {
    fn is_match(&self, text: &str) -> bool {
        // SAFETY: the place is a text that lives until the call returns.
        unsafe { imports::matches(self.0, text.as_ptr(), text.len()) != 0 }
    }
}

impl Drop for RegExp {
    fn drop(&mut self) {
        imports::drop(self.0);
    }
}

thread_local! {
    static SCHEMAS: RefCell<Vec<Option<Schema>>> = const { RefCell::new(Vec::new()) };
}

/// Compiles a schema and gives its number; -1 after it was said what is wrong. `formats` is whether they are checked.
#[unsafe(no_mangle)]
extern "C" fn compile(formats: u32, length: usize) -> i32 {
    match Compiler::new().patterns(&Host).formats(formats != 0).compile(&text(length)) {
        Ok(schema) => SCHEMAS.with_borrow_mut(|schemas| {
            let free = schemas.iter().position(Option::is_none).unwrap_or(schemas.len());
            match schemas.get_mut(free) {
                Some(place) => *place = Some(schema),
                None => schemas.push(Some(schema)),
            }
            free as i32
        }),
        Err(error) => {
            said(error.path(), error.keyword(), error.message());
            -1
        }
    }
}

/// Holds a value against a schema, and says what it does not allow.
#[unsafe(no_mangle)]
extern "C" fn validate(number: usize, length: usize) {
    check(number, &text(length));
}

fn check(number: usize, value: &str) {
    SCHEMAS.with_borrow(|schemas| {
        if let Some(Some(schema)) = schemas.get(number)
            && let Err(errors) = schema.validate(value)
        {
            for one in errors.violations() {
                said(one.path(), one.keyword(), one.message());
            }
        }
    });
}

/// Holds the structured content of a tool's result against a schema, unless the result tells of a failure or is none yet.
#[unsafe(no_mangle)]
extern "C" fn result(number: usize, length: usize) {
    let result = text(length);
    let unfinished = find(&result, "resultType").is_some_and(|kind| kind != "\"complete\"");
    if unfinished || find(&result, "isError") == Some("true") {
        return;
    }
    match find(&result, "structuredContent") {
        Some(content) => check(number, content),
        None => said("", "", "is missing"),
    }
}

/// Lets go of a schema.
#[unsafe(no_mangle)]
extern "C" fn forget(number: usize) {
    SCHEMAS.with_borrow_mut(|schemas| {
        if let Some(place) = schemas.get_mut(number) {
            *place = None;
        }
    });
}

fn said(path: &str, keyword: &str, message: &str) {
    // SAFETY: the places are texts that live until the call returns.
    unsafe {
        imports::said(path.as_ptr(), path.len(), keyword.as_ptr(), keyword.len(), message.as_ptr(), message.len());
    }
}
