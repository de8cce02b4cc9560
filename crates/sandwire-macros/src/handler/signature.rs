//! A function's parameters as the fields of a struct, and where its context goes.

use super::Kind;
use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Error, FnArg, Pat, Receiver, Result, ReturnType, Type};

pub(crate) struct Signature {
    pub(crate) is_async: bool,
    pub(crate) receiver: Option<Receiver>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) returned: Option<Type>,
    order: Vec<Place>,
}

pub(crate) struct Parameter {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) kind: Type,
}

enum Place {
    Parameter(usize),
    Context,
}

impl Signature {
    /// Reads a signature, and takes out of it the attributes that only the struct may have.
    pub(crate) fn read(kind: Kind, signature: &mut syn::Signature) -> Result<Signature> {
        if let Some(parameter) = signature.generics.params.first() {
            return Err(Error::new_spanned(
                parameter,
                format!("a {} cannot be generic: a client could not say which type it means", kind.noun()),
            ));
        }
        let mut read = Signature {
            is_async: signature.asyncness.is_some(),
            receiver: None,
            parameters: Vec::new(),
            returned: match &signature.output {
                ReturnType::Type(_, returned) if !matches!(**returned, Type::ImplTrait(_)) => {
                    Some((**returned).clone())
                }
                _ => None,
            },
            order: Vec::new(),
        };
        for input in &mut signature.inputs {
            match input {
                FnArg::Receiver(receiver) => read.receiver = Some(receiver.clone()),
                FnArg::Typed(typed) if is_context(&typed.ty) => {
                    if read.has_context() {
                        return Err(Error::new_spanned(typed, "one context is enough"));
                    }
                    if !matches!(*typed.ty, Type::Reference(_)) {
                        return Err(Error::new_spanned(&typed.ty, "take the context by reference: `&Context`"));
                    }
                    read.order.push(Place::Context);
                }
                FnArg::Typed(typed) => {
                    let Pat::Ident(pattern) = &mut *typed.pat else {
                        return Err(Error::new_spanned(
                            &typed.pat,
                            "a parameter needs a name here: it is what clients call the argument",
                        ));
                    };
                    if let Type::Reference(reference) = &*typed.ty {
                        return Err(Error::new_spanned(
                            reference,
                            "a parameter is made from the client's message, so it must be owned: `String` instead of `&str`, \
                             `Vec<T>` instead of `&[T]`",
                        ));
                    }
                    if let Type::ImplTrait(found) = &*typed.ty {
                        return Err(Error::new_spanned(found, "a parameter needs a type of its own here"));
                    }
                    let attributes = std::mem::take(&mut typed.attrs);
                    let (own, rest) = attributes.into_iter().partition(is_for_the_struct);
                    typed.attrs = rest;
                    read.order.push(Place::Parameter(read.parameters.len()));
                    read.parameters.push(Parameter {
                        attributes: own,
                        name: pattern.ident.clone(),
                        kind: (*typed.ty).clone(),
                    });
                }
            }
        }
        Ok(read)
    }

    pub(crate) fn has_context(&self) -> bool {
        self.order.iter().any(|place| matches!(place, Place::Context))
    }

    /// The arguments of the call.
    pub(crate) fn in_order(
        &self,
        parameter: impl Fn(usize) -> Option<TokenStream>,
        context: TokenStream,
    ) -> Vec<TokenStream> {
        let place = |place: &Place| match place {
            Place::Parameter(index) => parameter(*index),
            Place::Context => Some(context.clone()),
        };
        self.order.iter().filter_map(place).collect()
    }
}

impl Parameter {
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let own = self.name.to_string();
        own.strip_prefix("r#").unwrap_or(&own) == name
    }
}

fn is_for_the_struct(attribute: &Attribute) -> bool {
    ["doc", "serde", "schema"].iter().any(|name| attribute.path().is_ident(name))
}

fn is_context(found: &Type) -> bool {
    match found {
        Type::Reference(reference) => reference.mutability.is_none() && is_context(&reference.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Context"),
        _ => false,
    }
}
