//! [Resources](https://modelcontextprotocol.io/specification/2026-07-28/server/resources).

use sandwire_json::{Number, Raw};

use super::content::{Annotations, Icon, ResourceContents};
use super::input::InputResponses;
use super::macros::noun;

noun! {
    /// Something that can be read.
    Resource {
        /// Its address.
        uri: String = "uri",
        /// Its programmatic name.
        name: String = "name",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
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
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// A family of resources, by a template of their addresses.
    ResourceTemplate {
        /// The template, after RFC 6570.
        uri_template: String = "uriTemplate",
        /// Its programmatic name.
        name: String = "name",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
        /// What the resources hold, for the model.
        description: String = "description",
        /// Their type, if they have all the same.
        mime_type: String = "mimeType",
        /// Hints for the client.
        annotations: Annotations = "annotations",
        /// Pictures that stand for it.
        icons: Vec<Icon> = "icons" since V2025_11_25,
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// A page of resources.
    ListResourcesResult {
        /// The resources.
        resources: Vec<Resource> = "resources",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// A page of resource templates.
    ListResourceTemplatesResult {
        /// The templates.
        resource_templates: Vec<ResourceTemplate> = "resourceTemplates",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What `resources/read` is called with.
    ReadResourceRequestParams {
        /// The resource.
        uri: String = "uri",
    } optional {
        /// Answers to what the call asked for (modern).
        input_responses: InputResponses = "inputResponses" since V2026_07_28,
        /// What the server wants to be told again (modern).
        request_state: String = "requestState" since V2026_07_28,
    }
}

noun! {
    /// What a resource holds, and perhaps what belongs to it.
    ReadResourceResult {
        /// The contents.
        contents: Vec<ResourceContents> = "contents",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What `resources/subscribe` and `resources/unsubscribe` are called with.
    ResourceRequestParams {
        /// The resource.
        uri: String = "uri",
    } optional {}
}

noun! {
    /// What `notifications/resources/updated` tells.
    ResourceUpdatedNotificationParams {
        /// The resource, or a part of one that was subscribed to.
        uri: String = "uri",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
