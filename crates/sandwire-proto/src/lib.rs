//! Sans-IO Model Context Protocol machines for clients and servers.
#![forbid(unsafe_code)]
