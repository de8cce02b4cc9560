//! `#[tool]`, `#[resource]`, `#[prompt]` on a function, and `#[handlers]` on an `impl` block.

mod bundle;
mod options;
mod signature;

use crate::docs;
use crate::root::Root;
pub(crate) use bundle::bundle;
pub(crate) use options::Kind;
use options::Options;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use signature::Signature;
use syn::spanned::Spanned;
use syn::{ItemFn, Result};

/// The attribute on a free function: the function stays, and beside it stands a type of the same name whose one
/// function makes the handler.
pub(crate) fn function(kind: Kind, attribute: TokenStream, item: TokenStream, default: Root) -> Result<TokenStream> {
    let options = Options::read(kind, attribute)?;
    let root = options.root(default);
    let mut function: ItemFn = syn::parse2(item)?;
    let signature = Signature::read(kind, &mut function.sig)?;
    options.check_variables(&signature.parameters)?;
    if let Some(receiver) = signature.receiver {
        return Err(syn::Error::new_spanned(
            receiver,
            "a method becomes a handler through its `impl` block: put `#[handlers]` on the block",
        ));
    }
    let name = &function.sig.ident;
    let description = docs::text(&function.attrs);
    let handler =
        Handler { kind, options: &options, signature: &signature, name, description: &description, root: &root };
    let made = handler.made(quote!(#name), None);
    let visibility = &function.vis;
    let (maker, inside) = (kind.maker(), root.inside());
    let target = kind.target();
    let doc = format!("The {} that the function `{name}` makes.", kind.noun());
    Ok(quote! {
        #function

        #[doc = #doc]
        #[allow(non_camel_case_types, clippy::exhaustive_enums)]
        #[derive(Debug)]
        #visibility enum #name {}

        #[allow(clippy::needless_pass_by_value)]
        impl #name {
            #[doc = #doc]
            #visibility fn #maker() -> #inside::#target {
                #made
            }
        }
    })
}

/// What is needed to write the expression that makes a handler.
struct Handler<'a> {
    kind: Kind,
    options: &'a Options,
    signature: &'a Signature,
    name: &'a Ident,
    description: &'a str,
    root: &'a Root,
}

impl Handler<'_> {
    /// `called` is the path to the function. With an `owner`, it is called on a clone of that value.
    fn made(&self, called: TokenStream, owner: Option<&TokenStream>) -> TokenStream {
        let inside = self.root.inside();
        let serde = self.root.serde();
        let crate_path = self.root.path();
        let signature = self.signature;
        let description = self.description;
        let target = self.kind.target();
        let key = self.options.key(self.name);
        let settings = self.options.settings(self.name);

        let fields = signature.parameters.iter().map(|parameter| {
            let (attributes, name, kind) = (&parameter.attributes, &parameter.name, &parameter.kind);
            quote!(#(#attributes)* #name: #kind)
        });
        let names: Vec<_> = signature.parameters.iter().map(|parameter| &parameter.name).collect();
        let (arguments, pattern) = if names.is_empty() {
            (TokenStream::new(), TokenStream::new())
        } else {
            let deny = (self.kind == Kind::Tool && self.options.closed).then(|| quote!(#[serde(deny_unknown_fields)]));
            let declared = quote! {
                #[derive(#inside::Deserialize, #inside::DeriveSchema)]
                #[serde(crate = #serde)]
                #[schema(crate = #crate_path)]
                #deny
                #[allow(non_snake_case, missing_docs)]
                struct Arguments { #(#fields),* }
            };
            (declared, quote!(Arguments { #(#names),* }: Arguments,))
        };
        let values = signature.in_order(|index| names.get(index).map(|name| quote!(#name)), quote!(__context));
        let clone = owner.map(|owner| quote!(let __owner = ::std::sync::Arc::clone(&#owner);));
        let receiver = owner.map(|_| quote!(&__owner,));
        let function = if signature.is_async {
            let values = signature.in_order(|index| names.get(index).map(|name| quote!(#name)), quote!(&__context));
            let context = signature.has_context().then(|| quote!(__context: #inside::Context));
            let again = owner.map(|_| quote!(let __owner = ::std::sync::Arc::clone(&__owner);));
            quote! {
                move |#pattern #context| {
                    #again
                    async move { #called(#receiver #(#values),*).await }
                }
            }
        } else {
            let context = signature.has_context().then(|| quote!(__context: &#inside::Context));
            quote!(move |#pattern #context| #called(#receiver #(#values),*))
        };
        let check = format_ident!("{}_returns", self.kind.noun());
        let check = signature
            .returned
            .as_ref()
            .map(|returned| quote_spanned!(returned.span()=> #inside::#check::<#returned>();));
        quote! {{
            #arguments
            #check
            #clone
            #inside::#target::new(#key, #description, #function) #settings
        }}
    }
}

impl Kind {
    fn maker(self) -> Ident {
        format_ident!("{}", self.noun())
    }

    fn target(self) -> Ident {
        format_ident!(
            "{}",
            match self {
                Kind::Tool => "ToolHandler",
                Kind::Resource => "ResourceHandler",
                Kind::Prompt => "PromptHandler",
            }
        )
    }

    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Resource => "resource",
            Kind::Prompt => "prompt",
        }
    }
}
