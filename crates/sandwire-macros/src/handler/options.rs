//! What stands in the parentheses of an attribute.

use super::signature::Parameter;
use crate::root::Root;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, LitBool, LitStr, Path, Result, Token};

/// Which attribute it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Prompt,
}

pub(crate) struct Options {
    kind: Kind,
    crate_path: Option<Path>,
    uri: Option<LitStr>,
    name: Option<LitStr>,
    title: Option<LitStr>,
    mime_type: Option<LitStr>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    pub(crate) closed: bool,
}

impl Options {
    pub(crate) fn read(kind: Kind, attribute: TokenStream) -> Result<Options> {
        let mut options = Options {
            kind,
            crate_path: None,
            uri: None,
            name: None,
            title: None,
            mime_type: None,
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            closed: false,
        };
        let parser = |input: ParseStream<'_>| {
            if kind == Kind::Resource {
                options.uri = Some(address(input)?);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            while !input.is_empty() {
                options.one(input)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        parser.parse2(attribute)?;
        Ok(options)
    }

    fn one(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            self.crate_path = Some(value(input)?);
            return Ok(());
        }
        let option: Ident = input.parse()?;
        match (self.kind, option.to_string().as_str()) {
            (Kind::Tool, "read_only") => self.read_only = Some(flag(input)?),
            (Kind::Tool, "destructive") => self.destructive = Some(flag(input)?),
            (Kind::Tool, "idempotent") => self.idempotent = Some(flag(input)?),
            (Kind::Tool, "open_world") => self.open_world = Some(flag(input)?),
            (Kind::Tool, "deny_unknown_arguments") => self.closed = flag(input)?,
            (Kind::Resource, "mime_type") => self.mime_type = Some(value(input)?),
            (_, "name") => self.name = Some(value(input)?),
            (_, "title") => self.title = Some(value(input)?),
            (Kind::Tool, _) => {
                return Err(Error::new(
                    option.span(),
                    "expected `name`, `title`, `read_only`, `destructive`, `idempotent`, `open_world`, \
                     `deny_unknown_arguments` or `crate`",
                ));
            }
            (Kind::Resource, _) => {
                return Err(Error::new(option.span(), "expected `name`, `title`, `mime_type` or `crate`"));
            }
            (Kind::Prompt, _) => return Err(Error::new(option.span(), "expected `name`, `title` or `crate`")),
        }
        Ok(())
    }

    pub(crate) fn root(&self, default: Root) -> Root {
        self.crate_path.as_ref().map_or(default, Root::named)
    }

    /// What it is registered under.
    pub(crate) fn key(&self, function: &Ident) -> TokenStream {
        match (&self.uri, &self.name) {
            (Some(uri), _) => quote!(#uri),
            (None, Some(name)) => quote!(#name),
            (None, None) => {
                let name = function.to_string();
                let name = name.strip_prefix("r#").unwrap_or(&name);
                quote!(#name)
            }
        }
    }

    /// Checks that the variables of the address are the parameters, as registration would.
    pub(crate) fn check_variables(&self, parameters: &[Parameter]) -> Result<()> {
        let Some(uri) = &self.uri else { return Ok(()) };
        if parameters
            .iter()
            .any(|parameter| parameter.attributes.iter().any(|attribute| attribute.path().is_ident("serde")))
        {
            return Ok(());
        }
        let text = uri.value();
        let variables: Vec<&str> = text
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}'))
            .flat_map(|(expression, _)| expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(','))
            .collect();
        if let Some(variable) =
            variables.iter().find(|variable| !parameters.iter().any(|known| known.is_called(variable)))
        {
            return Err(Error::new(uri.span(), format!("the function has no parameter for the variable `{variable}`")));
        }
        match parameters.iter().find(|parameter| !variables.iter().any(|variable| parameter.is_called(variable))) {
            Some(parameter) => Err(Error::new(
                parameter.name.span(),
                format!("the address has no variable for this parameter: write `{{{}}}` into it", parameter.name),
            )),
            None => Ok(()),
        }
    }

    /// The calls that set the rest.
    pub(crate) fn settings(&self, function: &Ident) -> TokenStream {
        let mut settings = TokenStream::new();
        let title = self.title.as_ref().map(|title| quote!(.title(#title)));
        let mime_type = self.mime_type.as_ref().map(|mime_type| quote!(.mime_type(#mime_type)));
        let name = (self.kind == Kind::Resource).then(|| {
            let name = self.name.as_ref().map(LitStr::value).unwrap_or_else(|| {
                let name = function.to_string();
                name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
            });
            quote!(.name(#name))
        });
        let read_only = self.read_only.filter(|read_only| *read_only).map(|_| quote!(.read_only()));
        let idempotent = self.idempotent.filter(|idempotent| *idempotent).map(|_| quote!(.idempotent()));
        let destructive = self.destructive.map(|destructive| quote!(.destructive(#destructive)));
        let open_world = self.open_world.map(|open| quote!(.open_world(#open)));
        settings.extend([name, title, mime_type, read_only, destructive, idempotent, open_world].into_iter().flatten());
        settings
    }
}

fn address(input: ParseStream<'_>) -> Result<LitStr> {
    if input.peek(LitStr) {
        input.parse()
    } else {
        Err(input.error("expected the resource's address, such as `#[resource(\"notes://{id}\")]`"))
    }
}

fn value<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn flag(input: ParseStream<'_>) -> Result<bool> {
    if input.peek(Token![=]) { value::<LitBool>(input).map(|flag| flag.value) } else { Ok(true) }
}
