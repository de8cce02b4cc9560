//! Ports, links and the driver that runs one Model Context Protocol connection on any executor.
#![forbid(unsafe_code)]
