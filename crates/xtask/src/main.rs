//! Build, test and release automation.
fn main() {}
