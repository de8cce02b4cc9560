//! How peers meet: [initialize](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle)
//! in the legacy era, [discovery](https://modelcontextprotocol.io/specification/2026-07-28/server/discover)
//! in the modern one.

use sandwire_json::Raw;

use super::capability::{ClientCapabilities, ServerCapabilities};
use super::content::Icon;
use super::macros::noun;

noun! {
    /// Who a peer says it is.
    Implementation {
        /// Its programmatic name.
        name: String = "name",
        /// Its version.
        version: String = "version",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
        /// What it is.
        description: String = "description" since V2025_11_25,
        /// Where to read about it.
        website_url: String = "websiteUrl" since V2025_11_25,
        /// Pictures that stand for it.
        icons: Vec<Icon> = "icons" since V2025_11_25,
    }
}

noun! {
    /// What `initialize` is called with.
    InitializeRequestParams {
        /// The version the client would like.
        protocol_version: String = "protocolVersion",
        /// What the client can do.
        capabilities: ClientCapabilities = "capabilities",
        /// Who the client is.
        client_info: Implementation = "clientInfo",
    } optional {}
}

noun! {
    /// The answer to `initialize`.
    InitializeResult {
        /// The version that is spoken from now on.
        protocol_version: String = "protocolVersion",
        /// What the server can do.
        capabilities: ServerCapabilities = "capabilities",
        /// Who the server is.
        server_info: Implementation = "serverInfo",
    } optional {
        /// How to use the server, for the model.
        instructions: String = "instructions",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// The answer to `server/discover`.
    DiscoverResult {
        /// The versions that the server speaks.
        supported_versions: Vec<String> = "supportedVersions",
        /// What the server can do.
        capabilities: ServerCapabilities = "capabilities",
    } optional {
        /// How to use the server, for the model.
        instructions: String = "instructions",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
