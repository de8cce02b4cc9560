//! Model Context Protocol servers from plain functions.
#![forbid(unsafe_code)]

#[doc(hidden)]
#[path = "macro_support.rs"]
pub mod __macro;
mod guard;
pub mod http;
pub mod schema;

pub use schema::Schema;
#[cfg(feature = "macros")]
pub use sandwire_macros::Schema;
