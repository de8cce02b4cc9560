//! What serde's attributes say about the JSON form of a type.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, LitStr, Result, Token};

/// A name on its way in and on its way out.
#[derive(Clone)]
pub(crate) struct Both<T> {
    pub(crate) input: Option<T>,
    pub(crate) output: Option<T>,
}

impl<T> Default for Both<T> {
    fn default() -> Self {
        Both { input: None, output: None }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Rule {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

#[derive(Default)]
pub(crate) struct Container {
    pub(crate) rename_all: Both<Rule>,
    pub(crate) rename_all_fields: Both<Rule>,
    pub(crate) deny_unknown_fields: bool,
    pub(crate) default: bool,
    pub(crate) transparent: bool,
    pub(crate) tag: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) untagged: bool,
}

#[derive(Default)]
pub(crate) struct Field {
    pub(crate) rename: Both<String>,
    pub(crate) default: bool,
    pub(crate) skip_input: bool,
    pub(crate) skip_output: bool,
    pub(crate) skip_output_if: bool,
    pub(crate) custom: Option<Span>,
}

#[derive(Default)]
pub(crate) struct Variant {
    pub(crate) rename: Both<String>,
    pub(crate) rename_all: Both<Rule>,
    pub(crate) skip: bool,
}

impl Container {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Container> {
        let mut read = Container::default();
        each(attributes, |name, meta| {
            match name {
                "rename_all" => read.rename_all = rule(meta)?,
                "rename_all_fields" => read.rename_all_fields = rule(meta)?,
                "deny_unknown_fields" => read.deny_unknown_fields = true,
                "default" => read.default = true,
                "transparent" => read.transparent = true,
                "tag" => read.tag = Some(text(meta)?),
                "content" => read.content = Some(text(meta)?),
                "untagged" => read.untagged = true,
                "from" | "try_from" | "into" => {
                    return Err(meta.error(format!(
                        "`{name}` gives this type another JSON form than its fields: \
                         implement `Schema` by hand, with `const NODE` of the type it is converted from"
                    )));
                }
                "remote" => return Err(meta.error("a remote type is described by implementing `Schema` by hand")),
                _ => {}
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl Field {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Field> {
        let mut read = Field::default();
        each(attributes, |name, meta| {
            match name {
                "rename" => read.rename = both(meta, Ok)?,
                "default" => read.default = true,
                "skip" => (read.skip_input, read.skip_output) = (true, true),
                "skip_deserializing" => read.skip_input = true,
                "skip_serializing" => read.skip_output = true,
                "skip_serializing_if" => read.skip_output_if = true,
                "with" | "deserialize_with" | "serialize_with" => read.custom = Some(meta.path.span()),
                "flatten" => {
                    return Err(meta
                        .error("a flattened field cannot be described: write its fields out, or nest it under a key"));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(read)
    }
}

impl Variant {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Variant> {
        let mut read = Variant::default();
        each(attributes, |name, meta| {
            match name {
                "rename" => read.rename = both(meta, Ok)?,
                "rename_all" => read.rename_all = rule(meta)?,
                "skip" | "skip_deserializing" => read.skip = true,
                "untagged" => {
                    return Err(meta.error("one untagged variant among tagged ones cannot be described"));
                }
                "with" | "deserialize_with" | "serialize_with" => {
                    return Err(meta.error("a variant with its own JSON form cannot be described"));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(read)
    }
}

fn each(attributes: &[Attribute], mut take: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            take(&name, &meta)?;
            rest(&meta)
        })?;
    }
    Ok(())
}

/// Reads over what the closure left of `= value` or `(..)`.
fn rest(meta: &ParseNestedMeta<'_>) -> Result<()> {
    if meta.input.peek(Token![=]) {
        let _: Expr = meta.value()?.parse()?;
    } else if meta.input.peek(syn::token::Paren) {
        let inner;
        syn::parenthesized!(inner in meta.input);
        let _: proc_macro2::TokenStream = inner.parse()?;
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta<'_>) -> Result<String> {
    Ok(meta.value()?.parse::<LitStr>()?.value())
}

fn both<T: Clone>(
    meta: &ParseNestedMeta<'_>,
    convert: impl Fn(String) -> std::result::Result<T, String>,
) -> Result<Both<T>> {
    let convert = |literal: LitStr| convert(literal.value()).map_err(|message| Error::new(literal.span(), message));
    if meta.input.peek(Token![=]) {
        let value = convert(meta.value()?.parse()?)?;
        return Ok(Both { input: Some(value.clone()), output: Some(value) });
    }
    let mut found = Both::default();
    meta.parse_nested_meta(|side| {
        let value = Some(convert(side.value()?.parse()?)?);
        if side.path.is_ident("deserialize") {
            found.input = value;
        } else if side.path.is_ident("serialize") {
            found.output = value;
        }
        Ok(())
    })?;
    Ok(found)
}

fn rule(meta: &ParseNestedMeta<'_>) -> Result<Both<Rule>> {
    both(meta, |name| {
        Ok(match name.as_str() {
            "lowercase" => Rule::Lower,
            "UPPERCASE" => Rule::Upper,
            "PascalCase" => Rule::Pascal,
            "camelCase" => Rule::Camel,
            "snake_case" => Rule::Snake,
            "SCREAMING_SNAKE_CASE" => Rule::ScreamingSnake,
            "kebab-case" => Rule::Kebab,
            "SCREAMING-KEBAB-CASE" => Rule::ScreamingKebab,
            _ => return Err(format!("`{name}` is not one of serde's naming rules")),
        })
    })
}

impl Rule {
    /// A field's name, written in snake case in the source.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Rule::Lower | Rule::Snake => name.to_owned(),
            Rule::Upper | Rule::ScreamingSnake => name.to_uppercase(),
            Rule::Pascal => name.split('_').map(capitalized).collect(),
            Rule::Camel => uncapitalized(&Rule::Pascal.field(name)),
            Rule::Kebab => name.replace('_', "-"),
            Rule::ScreamingKebab => name.to_uppercase().replace('_', "-"),
        }
    }

    /// A variant's name, written in Pascal case in the source.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Rule::Pascal => name.to_owned(),
            Rule::Lower => name.to_lowercase(),
            Rule::Upper => name.to_uppercase(),
            Rule::Camel => uncapitalized(name),
            Rule::Snake => snake(name),
            Rule::ScreamingSnake => snake(name).to_uppercase(),
            Rule::Kebab => snake(name).replace('_', "-"),
            Rule::ScreamingKebab => snake(name).to_uppercase().replace('_', "-"),
        }
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn uncapitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
