//! A JSON reader and writer that keep text as it came.
//!
//! It is for programs that pass JSON on more than they look into it: a [`Raw`] is a checked text
//! whose digits and unknown members survive because nothing takes them apart, a [`Reader`] walks a
//! text once and borrows from it, a [`Writer`] puts one together, and a [`Shape`] table checks a text
//! where no Rust type is wanted. Types bring their own [`Read`] and [`Write`], or serde's traits
//! through [`mod@serde`].
//!
//! It never recurses into what it was given, never panics on it, never builds a tree, and links no
//! float parsing or formatting into a program that does not ask for it.
//!
//! ```
//! use sandwire_json::{Raw, Reader, Writer, find};
//!
//! let message = r#"{"jsonrpc":"2.0","id":1,"result":{"price":1.10}}"#;
//! let result = find(message, "result").unwrap_or_default();
//!
//! let mut w = Writer::new();
//! w.begin_object();
//! w.key("copy");
//! w.raw(result);
//! w.end_object();
//! assert_eq!(w.into_raw(), Raw::from_valid(r#"{"copy":{"price":1.10}}"#));
//! # Ok::<(), sandwire_json::Error>(())
//! ```
//!
//! In reading order: [`Reader`], [`Raw`], [`Writer`], [`Read`] and [`Write`], [`Number`], [`shape`],
//! [`mod@serde`].
#![forbid(unsafe_code)]

mod codec;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod number;
mod raw;
mod reader;
mod scan;
pub mod serde;
pub mod shape;
mod writer;

pub use codec::{Read, Write, find, from_str, may_name, to_raw};
pub use error::{Error, ErrorKind};
pub use number::Number;
pub use raw::Raw;
pub use reader::{Kind, Reader};
pub use shape::{Shape, check};
pub use writer::Writer;

/// How deep arrays and objects may be nested: a text nested deeper is refused.
pub const MAX_DEPTH: u32 = 128;
