//! `#[derive(Schema)]`.

mod own;
mod serde_attrs;

use crate::docs;
use crate::root::Root;
use own::Own;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_attrs::Both;
use syn::visit_mut::{self, VisitMut};
use syn::{Data, DataEnum, DeriveInput, Error, Fields, GenericParam, Result, Type, parse_quote};

pub(crate) fn derive(input: &DeriveInput, default: Root) -> Result<TokenStream> {
    let own = Own::read(&input.attrs)?;
    let root = own.crate_path.as_ref().map_or(default, Root::named);
    let inside = root.inside();
    let container = serde_attrs::Container::read(&input.attrs)?;
    let mut writer = Writer { inside: &inside, name: &input.ident, recursive: false };
    let node = match &input.data {
        Data::Struct(data) => writer.structure(&container, &data.fields)?,
        Data::Enum(data) => writer.choice(&container, data)?,
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "a union has no JSON form")),
    };
    let recursive = writer.recursive;
    let name = input.ident.to_string();
    let node = documented(&inside, &docs::text(&input.attrs), node);
    let (node, knot) = if recursive {
        let node = quote!(#inside::Node::Recursive { name: #name, node: &#node });
        let knot = quote! {
            struct __Itself;
            impl #inside::Schema for __Itself {
                const NODE: &'static #inside::Node = &#inside::Node::Ref(#name);
            }
        };
        (node, knot)
    } else {
        (node, TokenStream::new())
    };

    let mut generics = input.generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(#inside::Schema));
        }
    }
    let (bounds, arguments, conditions) = generics.split_for_impl();
    let ident = &input.ident;
    let texts = if input.generics.params.is_empty() { texts(&inside, ident) } else { TokenStream::new() };
    Ok(quote! {
        const _: () = {
            #knot
            #[automatically_derived]
            impl #bounds #inside::Schema for #ident #arguments #conditions {
                const NODE: &'static #inside::Node = &#node;
                #texts
            }
        };
    })
}

/// The two texts as constants, for a type without parameters.
fn texts(inside: &TokenStream, ident: &Ident) -> TokenStream {
    let text = |name: &str, direction: &str| {
        let (name, direction) = (format_ident!("{name}"), format_ident!("{direction}"));
        quote! {
            const #name: ::core::option::Option<&'static str> = {
                const NODE: &#inside::Node = <#ident as #inside::Schema>::NODE;
                const LENGTH: usize = #inside::schema_length(NODE, #inside::Direction::#direction);
                const BYTES: &[u8; LENGTH] = &#inside::schema_bytes::<LENGTH>(NODE, #inside::Direction::#direction);
                #inside::schema_text(BYTES)
            };
        }
    };
    let (input, output) = (text("INPUT", "Input"), text("OUTPUT", "Output"));
    quote!(#input #output)
}

fn documented(inside: &TokenStream, doc: &str, node: TokenStream) -> TokenStream {
    if doc.is_empty() { node } else { quote!(#inside::Node::Documented { doc: #doc, node: &#node }) }
}

struct Writer<'a> {
    inside: &'a TokenStream,
    name: &'a Ident,
    recursive: bool,
}

impl Writer<'_> {
    fn structure(&mut self, container: &serde_attrs::Container, fields: &Fields) -> Result<TokenStream> {
        let inside = self.inside;
        match fields {
            Fields::Named(named) if container.transparent => {
                let field = named.named.iter().find(|field| !is_phantom(&field.ty));
                field.map_or_else(|| Ok(quote!(#inside::Node::Any)), |field| self.value(field))
            }
            Fields::Named(_) => {
                let rename = container.rename_all.clone();
                self.object(fields, &rename, container.default, container.deny_unknown_fields)
            }
            Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
                unnamed.unnamed.first().map_or_else(|| Ok(quote!(#inside::Node::Any)), |field| self.value(field))
            }
            Fields::Unnamed(_) => self.tuple(fields),
            Fields::Unit => Ok(quote!(#inside::Node::Scalar { kind: "null", rules: "" })),
        }
    }

    /// The node of a field's type.
    fn value(&mut self, field: &syn::Field) -> Result<TokenStream> {
        let own = Own::read(&field.attrs)?;
        let serde = serde_attrs::Field::read(&field.attrs)?;
        if let (Some(span), None) = (serde.custom, &own.with) {
            return Err(Error::new(
                span,
                "this field has its own JSON form: say what it looks like with `#[schema(with = SomeType)]`",
            ));
        }
        let inside = self.inside;
        let mut described = own.with.clone().unwrap_or_else(|| field.ty.clone());
        let mut knot = Knot { name: self.name, tied: false };
        knot.visit_type_mut(&mut described);
        self.recursive |= knot.tied;
        Ok(quote!(*<#described as #inside::Schema>::NODE))
    }

    fn object(
        &mut self,
        fields: &Fields,
        rename: &Both<serde_attrs::Rule>,
        all_default: bool,
        closed: bool,
    ) -> Result<TokenStream> {
        let inside = self.inside;
        let mut written = Vec::new();
        for field in fields {
            let serde = serde_attrs::Field::read(&field.attrs)?;
            if serde.skip_input && serde.skip_output {
                continue;
            }
            let own = Own::read(&field.attrs)?;
            let plain = field.ident.as_ref().map(unraw).unwrap_or_default();
            let named = |name: Option<&String>, rule: Option<serde_attrs::Rule>| {
                name.cloned().unwrap_or_else(|| rule.map_or_else(|| plain.clone(), |rule| rule.field(&plain)))
            };
            let input = named(serde.rename.input.as_ref(), rename.input);
            let output = named(serde.rename.output.as_ref(), rename.output);
            let node = self.value(field)?;
            let node = match &own.default {
                Some(default) => default.checked(inside, &node),
                None => quote!(&#node),
            };
            let (doc, rules) = (docs::text(&field.attrs), &own.rules);
            let presence = |skip: bool, optional: bool| {
                let name = if skip {
                    "Absent"
                } else if optional {
                    "Optional"
                } else {
                    "Required"
                };
                let name = format_ident!("{name}");
                quote!(#inside::Presence::#name)
            };
            let reads = presence(serde.skip_input, serde.default || all_default);
            let writes = presence(serde.skip_output, serde.skip_output_if);
            let absent = quote!(#inside::Presence::Absent);
            let mut push = |name: &str, reads: &TokenStream, writes: &TokenStream| {
                written.push(quote! {
                    #inside::Field { name: #name, doc: #doc, rules: #rules, node: #node, input: #reads, output: #writes }
                });
            };
            if input == output {
                push(&input, &reads, &writes);
            } else {
                push(&input, &reads, &absent);
                push(&output, &absent, &writes);
            }
        }
        Ok(quote!(#inside::Node::Object { fields: &[#(#written),*], closed: #closed }))
    }

    fn tuple(&mut self, fields: &Fields) -> Result<TokenStream> {
        let inside = self.inside;
        let nodes = fields.iter().map(|field| self.value(field)).collect::<Result<Vec<_>>>()?;
        Ok(quote!(#inside::Node::Tuple(&[#(&#nodes),*])))
    }

    fn choice(&mut self, container: &serde_attrs::Container, data: &DataEnum) -> Result<TokenStream> {
        let inside = self.inside;
        let mut variants = Vec::new();
        for variant in &data.variants {
            let serde = serde_attrs::Variant::read(&variant.attrs)?;
            if serde.skip {
                continue;
            }
            let plain = unraw(&variant.ident);
            let named = |name: Option<&String>, rule: Option<serde_attrs::Rule>| {
                name.cloned().unwrap_or_else(|| rule.map_or_else(|| plain.clone(), |rule| rule.variant(&plain)))
            };
            let name = named(serde.rename.input.as_ref(), container.rename_all.input);
            if name != named(serde.rename.output.as_ref(), container.rename_all.output) {
                return Err(Error::new_spanned(
                    &variant.ident,
                    "a variant that is written under another name than it is read cannot be described",
                ));
            }
            let fields = Both {
                input: serde.rename_all.input.or(container.rename_all_fields.input),
                output: serde.rename_all.output.or(container.rename_all_fields.output),
            };
            variants.push((variant, name, fields, docs::text(&variant.attrs)));
        }
        if variants.is_empty() {
            return Err(Error::new_spanned(self.name, "an enum without variants has no values to describe"));
        }
        let tagged = !container.untagged && container.tag.is_none();
        if tagged && variants.iter().all(|(variant, _, _, doc)| variant.fields.is_empty() && doc.is_empty()) {
            let names = variants.iter().map(|(_, name, ..)| name);
            return Ok(quote!(#inside::Node::Strings(&[#(#names),*])));
        }
        let mut nodes = Vec::new();
        for (variant, name, rename, doc) in variants {
            let node = self.variant(container, variant, &name, &rename)?;
            nodes.push(documented(inside, &doc, node));
        }
        let keyword = if container.untagged { quote!(AnyOf) } else { quote!(OneOf) };
        Ok(quote!(#inside::Node::#keyword(&[#(&#nodes),*])))
    }

    fn variant(
        &mut self,
        container: &serde_attrs::Container,
        variant: &syn::Variant,
        name: &str,
        rename: &Both<serde_attrs::Rule>,
    ) -> Result<TokenStream> {
        let inside = self.inside;
        let unit = variant.fields.is_empty();
        let contents = match &variant.fields {
            Fields::Named(_) => self.object(&variant.fields, rename, false, container.deny_unknown_fields)?,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => match fields.unnamed.first() {
                Some(field) => self.value(field)?,
                None => quote!(#inside::Node::Any),
            },
            Fields::Unnamed(_) => self.tuple(&variant.fields)?,
            Fields::Unit => quote!(#inside::Node::Scalar { kind: "null", rules: "" }),
        };
        let field = |name: &str, node: TokenStream| {
            quote! {
                #inside::Field {
                    name: #name, doc: "", rules: "", node: &#node,
                    input: #inside::Presence::Required, output: #inside::Presence::Required,
                }
            }
        };
        Ok(match (&container.tag, &container.content) {
            _ if container.untagged => contents,
            (None, _) if unit && matches!(variant.fields, Fields::Unit) => quote!(#inside::Node::Const(#name)),
            (None, _) => {
                let field = field(name, contents);
                quote!(#inside::Node::Object { fields: &[#field], closed: true })
            }
            (Some(tag), _) if matches!(variant.fields, Fields::Unit) => {
                quote! {
                    #inside::Node::Tagged {
                        tag: #tag, value: #name, node: &#inside::Node::Object { fields: &[], closed: false },
                    }
                }
            }
            (Some(tag), Some(content)) => {
                let field = field(content, contents);
                quote! {
                    #inside::Node::Tagged {
                        tag: #tag, value: #name, node: &#inside::Node::Object { fields: &[#field], closed: false },
                    }
                }
            }
            (Some(tag), None) => {
                if matches!(variant.fields, Fields::Unnamed(ref fields) if fields.unnamed.len() > 1) {
                    return Err(Error::new_spanned(variant, "a tuple variant cannot carry its tag inside"));
                }
                quote!(#inside::Node::Tagged { tag: #tag, value: #name, node: #inside::object(&#contents) })
            }
        })
    }
}

/// Replaces a type's own name inside its fields by a stand-in, so that its description is finite.
struct Knot<'a> {
    name: &'a Ident,
    tied: bool,
}

impl VisitMut for Knot<'_> {
    fn visit_type_mut(&mut self, found: &mut Type) {
        if let Type::Path(path) = found
            && path.qself.is_none()
            && path.path.segments.len() == 1
            && (path.path.is_ident("Self") || path.path.segments.iter().any(|segment| segment.ident == *self.name))
        {
            *found = parse_quote!(__Itself);
            self.tied = true;
            return;
        }
        visit_mut::visit_type_mut(self, found);
    }
}

fn is_phantom(found: &Type) -> bool {
    matches!(found, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"))
}

fn unraw(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}
