//! MCP for sandboxes: clients and servers that run in a page, a worker, an edge isolate and a native process.
#![forbid(unsafe_code)]
