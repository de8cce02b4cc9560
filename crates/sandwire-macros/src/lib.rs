//! Attributes and derives for Sandwire servers.
#![forbid(unsafe_code)]

mod docs;
mod root;
mod schema;

use proc_macro::TokenStream;
use root::Root;
use syn::parse_macro_input;

/// Describes a struct or enum as JSON Schema 2020-12, at compile time.
#[proc_macro_derive(Schema, attributes(schema, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input);
    finish(schema::derive(&input, Root::server()))
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
