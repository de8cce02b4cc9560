//! [Content](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result):
//! what results and messages are made of.

use sandwire_json::{Number, Raw};

use super::macros::{noun, open_enum, union};

open_enum! {
    /// Who speaks, or is spoken to.
    Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

open_enum! {
    /// Which background an icon is made for.
    IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

noun! {
    /// Hints for a client that shows or uses an object.
    Annotations {} optional {
        /// For whom it is meant.
        audience: Vec<Role> = "audience",
        /// How important it is, from 0 to 1.
        priority: Number = "priority",
        /// When it was changed last, after ISO 8601.
        last_modified: String = "lastModified" since V2025_06_18,
    }
}

noun! {
    /// A picture that stands for an object.
    Icon {
        /// Its address, with `https:` or `data:`.
        src: String = "src",
    } optional {
        /// Its type, if the address does not tell.
        mime_type: String = "mimeType",
        /// The sizes it can be shown in, as `48x48` or `any`.
        sizes: Vec<String> = "sizes",
        /// The background it is made for.
        theme: IconTheme = "theme",
    }
}

noun! {
    /// Text.
    TextContent("type" = "text") {
        /// The text.
        text: String = "text",
    } optional {
        /// Hints for the client.
        annotations: Annotations = "annotations",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// An image.
    ImageContent("type" = "image") {
        /// Its bytes, in base64.
        data: String = "data",
        /// Its type.
        mime_type: String = "mimeType",
    } optional {
        /// Hints for the client.
        annotations: Annotations = "annotations",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// Sound.
    AudioContent("type" = "audio") {
        /// Its bytes, in base64.
        data: String = "data",
        /// Its type.
        mime_type: String = "mimeType",
    } optional {
        /// Hints for the client.
        annotations: Annotations = "annotations",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// A resource that can be read, named and not included.
    ResourceLink("type" = "resource_link") {
        /// Its address.
        uri: String = "uri",
        /// Its programmatic name.
        name: String = "name",
    } optional {
        /// Its name for people.
        title: String = "title",
        /// What it holds, for the model.
        description: String = "description",
        /// Its type.
        mime_type: String = "mimeType",
        /// Hints for the client.
        annotations: Annotations = "annotations",
        /// Its size in bytes.
        size: Number = "size",
        /// Pictures that stand for it.
        icons: Vec<Icon> = "icons" since V2025_11_25,
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// A resource, included.
    EmbeddedResource("type" = "resource") {
        /// What it holds.
        resource: ResourceContents = "resource",
    } optional {
        /// Hints for the client.
        annotations: Annotations = "annotations",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// What a resource holds, as text.
    TextResourceContents {
        /// Its address.
        uri: String = "uri",
        /// The text.
        text: String = "text",
    } optional {
        /// Its type.
        mime_type: String = "mimeType",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// What a resource holds, as bytes.
    BlobResourceContents {
        /// Its address.
        uri: String = "uri",
        /// The bytes, in base64.
        blob: String = "blob",
    } optional {
        /// Its type.
        mime_type: String = "mimeType",
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

union! {
    /// What a resource holds.
    ResourceContents by member {
        /// Text.
        Text(TextResourceContents) = "text",
        /// Bytes.
        Blob(BlobResourceContents) = "blob",
    }
}

union! {
    /// A piece of a tool's result or of a prompt.
    ContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(ImageContent) = "image",
        /// Sound.
        Audio(AudioContent) = "audio" since V2025_03_26,
        /// A resource, named.
        ResourceLink(ResourceLink) = "resource_link" since V2025_06_18,
        /// A resource, included.
        Resource(EmbeddedResource) = "resource",
    }
}

impl ContentBlock {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// The text of a piece of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
