//! The path under which generated code finds the server crate.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

#[derive(Clone)]
pub(crate) struct Root(TokenStream);

impl Root {
    pub(crate) fn server() -> Root {
        Root(quote!(::sandwire_server))
    }

    pub(crate) fn facade() -> Root {
        Root(quote!(::sandwire::server))
    }

    pub(crate) fn named(path: &syn::Path) -> Root {
        Root(path.to_token_stream())
    }

    /// The path itself.
    pub(crate) fn path(&self) -> &TokenStream {
        &self.0
    }

    /// The module that generated code uses.
    pub(crate) fn inside(&self) -> TokenStream {
        let root = &self.0;
        quote!(#root::__macro)
    }

    /// Where serde is, as text, for serde's `crate` attribute.
    pub(crate) fn serde(&self) -> String {
        format!("{}::__macro::serde", self.0.to_string().replace(' ', ""))
    }
}
