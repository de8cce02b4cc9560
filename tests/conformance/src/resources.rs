//! Resources.

use sandwire::server::{ResourceHandler, resource};
use sandwire::types::model::{BlobResourceContents, ResourceContents};

use crate::content::PNG;

pub(crate) fn all() -> Vec<ResourceHandler> {
    vec![static_text::resource(), static_binary::resource(), watched_resource::resource(), template::resource()]
}

/// A text.
#[resource("test://static-text", mime_type = "text/plain")]
fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture.
#[resource("test://static-binary", mime_type = "image/png")]
fn static_binary() -> ResourceContents {
    let png = BlobResourceContents::new("test://static-binary", PNG);
    ResourceContents::Blob(png.with(|png| png.mime_type = Some("image/png".to_owned())))
}

/// A text to subscribe to.
#[resource("test://watched-resource", mime_type = "text/plain")]
fn watched_resource() -> &'static str {
    "Watched resource content"
}

/// Data by its name.
#[resource("test://template/{id}/data", mime_type = "application/json")]
fn template(id: String) -> String {
    serde_json::json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string()
}
