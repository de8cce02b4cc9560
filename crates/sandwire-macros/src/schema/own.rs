//! What the derive's own attributes say.

use super::serde_attrs::Rule;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Path, Result, Type};

/// What `#[schema(..)]` says.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) crate_path: Option<Path>,
    pub(crate) with: Option<Type>,
    pub(crate) rules: String,
    pub(crate) default: Option<Value>,
    limits: Vec<(String, f64)>,
}

impl Own {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Own> {
        let mut own = Own::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match name.as_str() {
                    "crate" => own.crate_path = Some(meta.value()?.parse()?),
                    "with" => own.with = Some(meta.value()?.parse()?),
                    "format" | "pattern" => {
                        let text: LitStr = meta.value()?.parse()?;
                        own.rule(&name, &json_string(&text.value()));
                    }
                    "header" => {
                        let text: LitStr = meta.value()?.parse()?;
                        own.rule("x-mcp-header", &json_string(&text.value()));
                    }
                    "min_length" | "max_length" | "min_items" | "max_items" => {
                        let number: syn::LitInt = meta.value()?.parse()?;
                        own.limit(&name, &number.base10_parse::<u64>()?.to_string());
                    }
                    "minimum" | "maximum" | "multiple_of" => {
                        let number = meta.value()?.call(number)?;
                        own.limit(&name, &number);
                    }
                    "default" => {
                        let value = Value::read(meta.value()?.parse()?)?;
                        own.rule("default", &value.json());
                        own.default = Some(value);
                    }
                    _ => {
                        return Err(meta.error(
                            "expected `default`, `with`, `format`, `pattern`, `minimum`, `maximum`, `multiple_of`, `min_length`, \
                             `max_length`, `min_items`, `max_items`, `header` or `crate`",
                        ));
                    }
                }
                Ok(())
            })?;
        }
        match own.default.as_ref().and_then(|default| default.beyond(&own.limits)) {
            Some(error) => Err(error),
            None => Ok(own),
        }
    }

    fn limit(&mut self, name: &str, number: &str) {
        self.rule(&Rule::Camel.field(name), number);
        self.limits.extend(number.parse().map(|limit| (name.to_owned(), limit)));
    }

    fn rule(&mut self, keyword: &str, value: &str) {
        if !self.rules.is_empty() {
            self.rules.push(',');
        }
        self.rules.push_str(&format!("\"{keyword}\":{value}"));
    }
}

/// What `default = ..` gives.
pub(crate) struct Value {
    expression: Expr,
    kind: Kind,
}

enum Kind {
    String(String),
    Number(String),
    Boolean(bool),
    List(Vec<Value>),
}

impl Value {
    fn read(expression: Expr) -> Result<Value> {
        let kind = match &expression {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Kind::String(text.value()),
            Expr::Lit(ExprLit { lit: Lit::Char(letter), .. }) => Kind::String(letter.value().to_string()),
            Expr::Lit(ExprLit { lit: Lit::Bool(truth), .. }) => Kind::Boolean(truth.value),
            Expr::Lit(_) | Expr::Unary(_) => Kind::Number(number.parse2(expression.to_token_stream())?),
            Expr::Array(array) => Kind::List(array.elems.iter().cloned().map(Value::read).collect::<Result<_>>()?),
            other => return Err(Error::new_spanned(other, "expected a string, a number, a boolean or a list of them")),
        };
        Ok(Value { expression, kind })
    }

    fn json(&self) -> String {
        match &self.kind {
            Kind::String(text) => json_string(text),
            Kind::Number(digits) => digits.clone(),
            Kind::Boolean(truth) => truth.to_string(),
            Kind::List(values) => format!("[{}]", values.iter().map(Value::json).collect::<Vec<_>>().join(",")),
        }
    }

    /// The node of a field with this default, which does not compile if the value is not one of the field's type.
    pub(crate) fn checked(&self, inside: &TokenStream, node: &TokenStream) -> TokenStream {
        let given = self.given(inside);
        let span = self.expression.span();
        // An error is shown where its path begins.
        let located = inside.clone().into_iter().map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        });
        let inside: TokenStream = located.collect();
        quote_spanned!(span=> #inside::with_default(&#node, #given))
    }

    fn given(&self, inside: &TokenStream) -> TokenStream {
        match &self.kind {
            Kind::String(text) => quote!(#inside::Given::String(#text)),
            Kind::Number(digits) if digits.contains(['.', 'e', 'E']) => quote!(#inside::Given::Fraction),
            Kind::Number(digits) => {
                let negative = digits.starts_with('-');
                quote!(#inside::Given::Integer { negative: #negative })
            }
            Kind::Boolean(_) => quote!(#inside::Given::Boolean),
            Kind::List(values) => {
                let values = values.iter().map(|value| value.given(inside));
                quote!(#inside::Given::List(&[#(#values),*]))
            }
        }
    }

    /// The error if it is beyond one of the field's own limits.
    fn beyond(&self, limits: &[(String, f64)]) -> Option<Error> {
        let size = |name: &str| match &self.kind {
            Kind::Number(digits) if !name.contains('_') => digits.parse().ok(),
            Kind::String(text) if name.ends_with("_length") => Some(text.chars().count() as f64),
            Kind::List(values) if name.ends_with("_items") => Some(values.len() as f64),
            _ => None,
        };
        limits.iter().find_map(|(name, limit)| {
            let size: f64 = size(name)?;
            let broken = if name.starts_with("max") { size > *limit } else { size < *limit };
            broken.then(|| Error::new_spanned(&self.expression, format!("the default breaks the field's own `{name}`")))
        })
    }
}

fn number(input: syn::parse::ParseStream<'_>) -> Result<String> {
    let sign = if input.parse::<Option<syn::Token![-]>>()?.is_some() { "-" } else { "" };
    let literal: syn::Lit = input.parse()?;
    match literal {
        syn::Lit::Int(number) => Ok(format!("{sign}{}", number.base10_digits())),
        syn::Lit::Float(number) => Ok(format!("{sign}{}", number.base10_parse::<f64>()?)),
        other => Err(Error::new_spanned(other, "expected a number")),
    }
}

fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if control < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
