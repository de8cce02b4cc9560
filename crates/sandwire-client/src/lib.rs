//! A Model Context Protocol client.
#![forbid(unsafe_code)]

pub use sandwire_io::client::Driver;
