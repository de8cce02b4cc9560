//! `#[handlers]`: the marked methods of an `impl` block as handlers of one value.

use super::Handler;
use super::options::{Kind, Options};
use super::signature::Signature;
use crate::docs;
use crate::root::Root;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, Error, ImplItem, ItemImpl, Meta, Path, Result};

pub(crate) fn bundle(attribute: TokenStream, item: TokenStream, default: Root) -> Result<TokenStream> {
    let root = root(attribute, default)?;
    let mut block: ItemImpl = syn::parse2(item)?;
    if let Some((_, path, _)) = &block.trait_ {
        return Err(Error::new_spanned(path, "`#[handlers]` goes on an `impl` block of the type itself"));
    }
    if let Some(parameter) = block.generics.params.first() {
        return Err(Error::new_spanned(parameter, "`#[handlers]` cannot be used on a generic type"));
    }
    let owner = (*block.self_ty).clone();
    let mut made = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some((kind, attribute)) = take_marker(&mut method.attrs) else { continue };
        let tokens = match attribute.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens,
            Meta::NameValue(pair) => return Err(Error::new_spanned(pair, "expected options in parentheses")),
        };
        let options = Options::read(kind, tokens)?;
        let signature = Signature::read(kind, &mut method.sig)?;
        options.check_variables(&signature.parameters)?;
        let receiver = match &signature.receiver {
            None => None,
            Some(receiver) if receiver.reference.is_some() && receiver.mutability.is_none() => Some(quote!(owner)),
            Some(receiver) => {
                return Err(Error::new_spanned(
                    receiver,
                    "calls run side by side, so a handler takes `&self`; keep what changes in a `Mutex` or a `Cell`",
                ));
            }
        };
        let name = &method.sig.ident;
        let description = docs::text(&method.attrs);
        let handler =
            Handler { kind, options: &options, signature: &signature, name, description: &description, root: &root };
        made.push(handler.made(quote!(<#owner>::#name), receiver.as_ref()));
    }
    if made.is_empty() {
        return Err(Error::new_spanned(
            &block.self_ty,
            "no method here is marked `#[tool]`, `#[resource(\"..\")]` or `#[prompt]`",
        ));
    }
    let inside = root.inside();
    Ok(quote! {
        #block

        impl #inside::Bundle for #owner {
            fn add_to(self, builder: #inside::Builder) -> #inside::Builder {
                let owner = ::std::sync::Arc::new(self);
                let _ = &owner;
                builder #(.with(#made))*
            }
        }
    })
}

fn root(attribute: TokenStream, default: Root) -> Result<Root> {
    let mut root = default;
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            root = Root::named(&meta.value()?.parse::<Path>()?);
            Ok(())
        } else {
            Err(meta.error("expected nothing, or `crate = path`"))
        }
    });
    parser.parse2(attribute)?;
    Ok(root)
}

/// Takes the first marker off a method.
fn take_marker(attributes: &mut Vec<Attribute>) -> Option<(Kind, Attribute)> {
    let kind = |attribute: &Attribute| match attribute.path().segments.last()?.ident.to_string().as_str() {
        "tool" => Some(Kind::Tool),
        "resource" => Some(Kind::Resource),
        "prompt" => Some(Kind::Prompt),
        _ => None,
    };
    let position = attributes.iter().position(|attribute| kind(attribute).is_some())?;
    let attribute = attributes.remove(position);
    kind(&attribute).map(|kind| (kind, attribute))
}
