//! Model Context Protocol servers from plain functions.
#![forbid(unsafe_code)]
