//! A JSON reader and writer that keep text as it came.
#![forbid(unsafe_code)]
