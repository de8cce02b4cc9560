//! Attributes and derives for Sandwire servers.
#![forbid(unsafe_code)]
