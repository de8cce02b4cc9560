//! JSON Schema, checked over JSON text and small enough for a page.
//!
//! Versions 2020-12 and draft-07. A [`Schema`] is compiled once and interpreted: there is no code generated, nothing is
//! fetched, and numbers are compared by their digits. Neither a schema nor a value can make it run for long or deep:
//! [`Limits`] end both, as an error.
//!
//! ```
//! use sandwire_schema::Schema;
//!
//! let schema = Schema::compile(r#"{"type":"object","properties":{"count":{"type":"integer","maximum":9}}}"#)?;
//! assert!(schema.validate(r#"{"count": 3.0}"#).is_ok());
//!
//! let errors = schema.validate(r#"{"count": 10}"#).unwrap_err();
//! assert_eq!(errors.to_text(), "/count: must be at most 9");
//! # Ok::<(), sandwire_schema::SchemaError>(())
//! ```
//!
//! In reading order: [`Schema`], [`Compiler`], [`Errors`], [`Patterns`].
#![forbid(unsafe_code)]

mod check;
mod compile;
mod decimal;
mod error;
mod format;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod index;
mod pattern;
mod schema;
mod tree;
mod uri;
mod validate;
mod words;

pub use error::{Errors, SchemaError, Violation};
pub use index::Draft;
#[cfg(feature = "regress")]
pub use pattern::Regress;
pub use pattern::{Pattern, Patterns};
pub use schema::{Compiler, Limits, Schema};
