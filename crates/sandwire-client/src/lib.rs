//! A Model Context Protocol client.
#![forbid(unsafe_code)]
