//! Rust files as tokens, without comments and without what only tests compile.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, TraitItem};

use super::workspace::{File, Package, Workspace};

/// A token and its line; a group is its delimiters and what is between them.
#[derive(Debug, Clone)]
pub struct Token {
    pub text: String,
    pub line: usize,
    pub is_name: bool,
}

/// A source file of a package.
pub struct Source<'a> {
    pub path: &'a str,
    pub syntax: syn::File,
}

impl Source<'_> {
    /// Its tokens, in order.
    pub fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::new();
        flatten(self.syntax.to_token_stream(), &mut tokens);
        tokens
    }

    /// Where something is, for a reader.
    pub fn at(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

/// What the packages that `wanted` picks compile when they are built, not tested.
pub fn sources(workspace: &Workspace, wanted: impl Fn(&Package) -> bool) -> Vec<Source<'_>> {
    let mut sources = Vec::new();
    let mut of_tests = Vec::new();
    for file in &workspace.files {
        let Some(package) = workspace.owner(file).filter(|package| wanted(package)) else {
            continue;
        };
        if !file.path.starts_with(&format!("{}/src/", package.dir)) || !file.path.ends_with(".rs") {
            continue;
        }
        // The compiler is the one to complain about a file that is not Rust.
        let Ok(mut syntax) = syn::parse_file(&file.text) else {
            continue;
        };
        strip(&mut syntax.items, file, &mut of_tests);
        sources.push(Source { path: &file.path, syntax });
    }
    let in_tests = |path: &str| {
        of_tests.iter().any(|module: &String| {
            path.strip_prefix(module.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    };
    sources.retain(|source| !in_tests(source.path));
    sources
}

/// Drops items that only tests compile, and notes where the modules among them are.
fn strip(items: &mut Vec<Item>, file: &File, of_tests: &mut Vec<String>) {
    items.retain_mut(|item| {
        let for_tests = is_for_tests(item);
        match item {
            Item::Mod(module) => match &mut module.content {
                Some((_, items)) if !for_tests => strip(items, file, of_tests),
                None if for_tests => of_tests.push(module_path(&file.path, &module.ident.to_string())),
                _ => {}
            },
            Item::Impl(block) => block.items.retain(|item| match item {
                ImplItem::Fn(function) => !function.attrs.iter().any(marks_tests),
                _ => true,
            }),
            Item::Trait(block) => block.items.retain(|item| match item {
                TraitItem::Fn(function) => !function.attrs.iter().any(marks_tests),
                _ => true,
            }),
            _ => {}
        }
        !for_tests
    });
}

/// The path of a module's file or folder, without `.rs`, given the file that declares it.
fn module_path(declared_in: &str, name: &str) -> String {
    let stem = declared_in.trim_end_matches(".rs");
    let (folder, last) = stem.rsplit_once('/').unwrap_or(("", stem));
    match last {
        "lib" | "main" | "mod" => format!("{folder}/{name}"),
        _ => format!("{stem}/{name}"),
    }
}

/// Drops what the compiler evaluates: nameless constants and `const` functions.
pub fn strip_constants(items: &mut Vec<Item>) {
    items.retain_mut(|item| match item {
        Item::Const(item) => item.ident != "_",
        Item::Fn(function) => function.sig.constness.is_none(),
        Item::Mod(module) => {
            module.content.iter_mut().for_each(|(_, items)| strip_constants(items));
            true
        }
        Item::Impl(block) => {
            block.items.retain(|item| match item {
                ImplItem::Fn(function) => function.sig.constness.is_none(),
                _ => true,
            });
            true
        }
        _ => true,
    });
}

/// Whether only tests compile an item.
pub fn is_for_tests(item: &Item) -> bool {
    attributes(item).iter().any(marks_tests)
}

fn marks_tests(attribute: &Attribute) -> bool {
    let mut tokens = Vec::new();
    flatten(attribute.meta.to_token_stream(), &mut tokens);
    let words: Vec<_> = tokens.iter().map(|token| token.text.as_str()).collect();
    match words.split_first() {
        Some((&"test", [])) => true,
        Some((&"cfg", condition)) => condition
            .iter()
            .all(|word| matches!(*word, "(" | ")" | "," | "=" | "any" | "feature" | "test" | "\"fuzzing\"")),
        _ => false,
    }
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                tokens.push(Token { text: open.to_owned(), line, is_name: false });
                flatten(group.stream(), tokens);
                tokens.push(Token { text: close.to_owned(), line, is_name: false });
            }
            TokenTree::Ident(name) => {
                tokens.push(Token { text: name.to_string(), line, is_name: true });
            }
            other => tokens.push(Token { text: other.to_string(), line, is_name: false }),
        }
    }
}
