//! Attributes and derives for Sandwire servers.
//!
//! Everything here is re-exported by `sandwire-server` and `sandwire`, and documented there with examples. What an
//! attribute writes is what can be written by hand with `ToolHandler::new`, `ResourceHandler::new`,
//! `PromptHandler::new` and `impl Schema`.
#![forbid(unsafe_code)]

mod docs;
mod handler;
mod root;
mod schema;

use handler::Kind;
use proc_macro::TokenStream;
use root::Root;
use syn::parse_macro_input;

/// Makes a tool from a function.
///
/// The function stays as it is. Beside it stands `name::tool()`, which gives the handler for the builder. The doc
/// comment is the description; each parameter is an argument, described by its own doc comment and able to carry serde's
/// and the schema derive's attributes; a parameter of type `&Context` is the context; the return type gives the output
/// schema.
///
/// ```
/// use sandwire_server::{Server, tool};
///
/// /// Divides two numbers.
/// #[tool(title = "Division", read_only)]
/// fn divide(
///     a: f64,
///     /// Not zero.
///     b: f64,
/// ) -> Result<f64, &'static str> {
///     if b == 0.0 { Err("cannot divide by zero") } else { Ok(a / b) }
/// }
///
/// let server = Server::builder("calculator", "1.0").with(divide::tool()).build()?;
/// assert_eq!(divide(6.0, 3.0), Ok(2.0));
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
///
/// Options: `name = ".."`, `title = ".."`, `read_only`, `destructive = ..`, `idempotent`, `open_world = ..`,
/// `deny_unknown_arguments`, `crate = path`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(handler::function(Kind::Tool, attribute.into(), item.into(), Root::server()))
}

/// Makes a resource, or a template of resources, from a function.
///
/// Each variable of the address is a parameter of the function; see `tool` for the rest.
///
/// ```
/// use sandwire_server::{Server, resource};
///
/// /// One note.
/// #[resource("notes://{id}", mime_type = "text/plain")]
/// fn note(id: u32) -> Option<String> {
///     (id == 1).then(|| "Buy milk".to_owned())
/// }
///
/// let server = Server::builder("notes", "1.0").with(note::resource()).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
///
/// Options after the address: `name = ".."`, `title = ".."`, `mime_type = ".."`, `crate = path`.
#[proc_macro_attribute]
pub fn resource(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(handler::function(Kind::Resource, attribute.into(), item.into(), Root::server()))
}

/// Makes a prompt from a function.
///
/// Each parameter is an argument, which clients send as text; see `tool` for the rest.
///
/// ```
/// use sandwire_server::{Server, prompt};
///
/// /// Asks for a review.
/// #[prompt]
/// fn review(code: String, strict: Option<bool>) -> String {
///     format!("Review this{}:\n{code}", if strict == Some(true) { " strictly" } else { "" })
/// }
///
/// let server = Server::builder("reviews", "1.0").with(review::prompt()).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
///
/// Options: `name = ".."`, `title = ".."`, `crate = path`.
#[proc_macro_attribute]
pub fn prompt(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(handler::function(Kind::Prompt, attribute.into(), item.into(), Root::server()))
}

/// Makes handlers from the marked methods of an `impl` block; a value of the type is then given to the builder.
///
/// ```
/// use sandwire_server::{Server, handlers};
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Notes {
///     all: Mutex<Vec<String>>,
/// }
///
/// #[handlers]
/// impl Notes {
///     /// Keeps a note, and says how many there are.
///     #[tool]
///     fn keep(&self, text: String) -> usize {
///         let mut all = self.all.lock().unwrap_or_else(|error| error.into_inner());
///         all.push(text);
///         all.len()
///     }
///
///     /// One note.
///     #[resource("notes://{index}")]
///     fn note(&self, index: usize) -> Option<String> {
///         self.all.lock().ok()?.get(index).cloned()
///     }
/// }
///
/// let server = Server::builder("notes", "1.0").with(Notes::default()).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[proc_macro_attribute]
pub fn handlers(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(handler::bundle(attribute.into(), item.into(), Root::server()))
}

/// Describes a struct or enum as JSON Schema 2020-12, at compile time.
///
/// Doc comments become descriptions, serde's attributes are understood, and `#[schema(..)]` on a field adds
/// `minimum`, `maximum`, `multiple_of`, `min_length`, `max_length`, `min_items`, `max_items`, `pattern`, `format`, `header`
/// (the HTTP header that repeats the argument) or takes the description of another type: `with = Type`. `default = 10`
/// (a string, a number, a boolean or a list of them) tells clients what is meant where the field is left out, and does
/// not compile if it is no value of the field's type; what is then used is said to serde, with `#[serde(default = "..")]`
/// or an `Option`.
///
/// ```
/// use sandwire_server::Schema;
///
/// #[derive(Schema)]
/// struct Search {
///     /// What to look for.
///     query: String,
///     #[schema(minimum = 1, maximum = 100)]
///     limit: Option<u32>,
/// }
///
/// assert_eq!(
///     sandwire_server::schema::input::<Search>().as_str(),
///     concat!(
///         r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"#,
///         r#""limit":{"type":"integer","minimum":1,"maximum":100}},"required":["query"]}"#,
///     ),
/// );
/// ```
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input);
    finish(schema::derive(&input, Root::server()))
}

macro_rules! through_the_facade {
    ($($name:ident: $kind:expr;)*) => {$(
        #[doc(hidden)]
        #[proc_macro_attribute]
        pub fn $name(attribute: TokenStream, item: TokenStream) -> TokenStream {
            finish(handler::function($kind, attribute.into(), item.into(), Root::facade()))
        }
    )*};
}

through_the_facade! {
    facade_tool: Kind::Tool;
    facade_resource: Kind::Resource;
    facade_prompt: Kind::Prompt;
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn facade_handlers(attribute: TokenStream, item: TokenStream) -> TokenStream {
    finish(handler::bundle(attribute.into(), item.into(), Root::facade()))
}

#[doc(hidden)]
#[proc_macro_derive(FacadeSchema, attributes(schema, serde))]
pub fn derive_facade_schema(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input);
    finish(schema::derive(&input, Root::facade()))
}

fn finish(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.into_compile_error()).into()
}
