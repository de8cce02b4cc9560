//! [Roots](https://modelcontextprotocol.io/specification/2026-07-28/client/roots).

use sandwire_json::Raw;

use super::macros::noun;

noun! {
    /// A place that the client works in.
    Root {
        /// Its address, with `file:`.
        uri: String = "uri",
    } optional {
        /// Its name.
        name: String = "name",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// The answer to `roots/list`.
    ListRootsResult {
        /// The roots.
        roots: Vec<Root> = "roots",
    } optional {
        /// Metadata (legacy).
        meta: Raw as object = "_meta" until V2025_11_25,
    }
}
