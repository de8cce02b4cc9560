//! The JSON-RPC envelope and the Model Context Protocol's nouns, one model for every protocol version.
#![forbid(unsafe_code)]
