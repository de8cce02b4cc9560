//! The public items of a crate, however they are reached, without bodies, documentation and what is
//! private.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Fields, Ident, ImplItem, Item, ItemImpl, ItemMacro, TraitItem, Type, Visibility};

use super::module::{Import, Module, imports, public_name};

/// The text for the crate in a folder.
pub fn of(folder: &Path, name: &str) -> Result<String> {
    let root = Module::read(&folder.join("src/lib.rs"))?;
    Ok(print(&root, &name.replace('-', "_")))
}

fn print(root: &Module, name: &str) -> String {
    let mut surface = Surface { root, modules: BTreeMap::new(), names: BTreeSet::new() };
    surface.module(root, &[], name);
    let mut impls = BTreeMap::new();
    surface.impls(root, &mut impls);

    let mut text = String::new();
    for (path, items) in surface.modules {
        text.push_str(&format!("// {path}\n\n"));
        for (key, item) in items {
            text.push_str(&item);
            for block in impls.remove(&key.name).into_iter().flatten() {
                text.push_str(&block);
            }
            text.push('\n');
        }
    }
    let rest: String = impls.into_values().flatten().collect();
    if !rest.is_empty() {
        text.push_str("// for types of others, and macros that write methods\n\n");
        text.push_str(&rest);
    }
    text
}

/// Where an item stands in its module.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    name: String,
    kind: &'static str,
    /// Tells items apart that have one name under different conditions.
    text: String,
}

struct Surface<'a> {
    root: &'a Module,
    modules: BTreeMap<String, BTreeMap<Key, String>>,
    names: BTreeSet<String>,
}

impl Surface<'_> {
    /// Adds what is public in a module that others reach as `shown`.
    fn module(&mut self, module: &Module, path: &[String], shown: &str) {
        self.modules.entry(shown.to_owned()).or_default();
        for item in &module.items {
            match item {
                _ if is_hidden(item) => {}
                Item::Use(item) if is_public(&item.vis) => {
                    for import in imports(&item.tree) {
                        self.import(module, path, shown, &import, &item.attrs);
                    }
                }
                Item::Mod(_) => {
                    let Some(name) = public_name(item) else {
                        continue;
                    };
                    let inside = [path, std::slice::from_ref(&name)].concat();
                    if let Some(child) = module.children.get(&name) {
                        self.module(child, &inside, &format!("{shown}::{name}"));
                    }
                }
                Item::Macro(item) if item.ident.is_none() => self.add(shown, declared_by(item), None),
                Item::Macro(item) if item.attrs.iter().any(is_exported) => {
                    let root = self.modules.keys().next().cloned().unwrap_or_default();
                    let mut item = item.clone();
                    item.mac.tokens = TokenStream::new();
                    self.add(&root, Item::Macro(item), None);
                }
                _ if public_name(item).is_some() => self.add(shown, item.clone(), None),
                _ => {}
            }
        }
    }

    /// Adds what a public `use` in a module names.
    fn import(&mut self, module: &Module, path: &[String], shown: &str, import: &Import, attributes: &[Attribute]) {
        let Some(target) = absolute(module, path, &import.path) else {
            let mut text = format!("pub use {}", import.path.join("::"));
            match &import.name {
                None => text.push_str("::*"),
                Some(name) if import.path.last() != Some(name) => text.push_str(&format!(" as {name}")),
                Some(_) => {}
            }
            let condition: String = kept(attributes).iter().map(|a| text_of(a) + " ").collect();
            let key = Key { name: text.clone(), kind: "use", text: condition.clone() };
            let items = self.modules.entry(shown.to_owned()).or_default();
            items.insert(key, format!("{condition}{text};\n"));
            return;
        };
        let Some(name) = &import.name else {
            if let Some(module) = self.root.at(&target) {
                self.module(module, &target, shown);
            }
            return;
        };
        if let Some(module) = self.root.at(&target) {
            self.module(module, &target, &format!("{shown}::{name}"));
            return;
        }
        let Some((original, parents)) = target.split_last() else {
            return;
        };
        let Some(home) = self.root.at(parents) else {
            return;
        };
        let mut found = false;
        for item in &home.items {
            match item {
                Item::Use(inner) => {
                    for inner in imports(&inner.tree) {
                        let same = inner.name.as_ref() == Some(original);
                        let inside = absolute(home, parents, &inner.path);
                        if same && inside.as_ref() != Some(&target) {
                            found = true;
                            let inner = Import { path: inner.path, name: Some(name.clone()) };
                            self.import(home, parents, shown, &inner, attributes);
                        } else if inner.name.is_none()
                            && let Some(glob) = inside.and_then(|path| self.root.at(&path))
                            && let Some(item) = glob.items.iter().find(|i| public_name(i).as_ref() == Some(original))
                        {
                            found = true;
                            self.add(shown, item.clone(), Some(name));
                        }
                    }
                }
                _ if public_name(item).as_ref() == Some(original) => {
                    found = true;
                    self.add(shown, item.clone(), Some(name));
                }
                _ => {}
            }
        }
        let declared = home.items.iter().filter_map(|item| match item {
            Item::Macro(item) if item.ident.is_none() && declares(item, original) => Some(item),
            _ => None,
        });
        if !found {
            declared.for_each(|item| self.add(shown, declared_by(item), None));
        }
    }

    fn add(&mut self, shown: &str, mut item: Item, rename: Option<&String>) {
        clean(&mut item);
        let name = match &item {
            Item::Macro(item) => item.ident.as_ref().map_or_else(String::new, Ident::to_string),
            item => public_name(item).unwrap_or_default(),
        };
        self.names.insert(name.clone());
        let mut text = unparse(item);
        if let Some(rename) = rename.filter(|rename| **rename != name) {
            text = format!("// as {rename}\n{text}");
        }
        let key = Key { name, kind: "item", text: text.clone() };
        self.modules.entry(shown.to_owned()).or_default().insert(key, text);
    }

    /// The blocks of all modules for public types, by the type's name, or for a public trait.
    fn impls(&self, module: &Module, found: &mut BTreeMap<String, BTreeSet<String>>) {
        for item in &module.items {
            if let Item::Macro(item) = item {
                self.written_by(item, found);
            }
            let Item::Impl(block) = item else { continue };
            let mut names = subjects(block).into_iter();
            let Some(name) = names.find(|name| self.names.contains(name)) else {
                continue;
            };
            let mut block = block.clone();
            let is_trait = block.trait_.is_some();
            block.attrs.retain(is_kept);
            block.items.retain_mut(|item| clean_impl_item(item, is_trait));
            if is_trait || !block.items.is_empty() {
                found.entry(name).or_default().insert(unparse(Item::Impl(block)));
            }
        }
        module.children.values().for_each(|child| self.impls(child, found));
    }
    /// The call of a macro of this crate that begins with a public type, for which it writes methods; and the macro.
    fn written_by(&self, call: &ItemMacro, found: &mut BTreeMap<String, BTreeSet<String>>) {
        let Some(TokenTree::Ident(subject)) = call.mac.tokens.clone().into_iter().next() else { return };
        let name =
            call.mac.path.get_ident().filter(|_| call.ident.is_none() && self.names.contains(&subject.to_string()));
        let Some(definition) = name.and_then(|name| macro_named(self.root, name)) else { return };
        found.entry(subject.to_string()).or_default().insert(unparse(declared_by(call)));
        let rest = "macros that write methods".to_owned();
        found.entry(rest).or_default().insert(unparse(declared_by(definition)));
    }
}

fn macro_named<'a>(module: &'a Module, name: &Ident) -> Option<&'a ItemMacro> {
    let mut here = module.items.iter().filter_map(|item| match item {
        Item::Macro(item) if item.ident.as_ref() == Some(name) => Some(item),
        _ => None,
    });
    here.next().or_else(|| module.children.values().find_map(|child| macro_named(child, name)))
}

/// The names that a block can be listed under: its type's, and its trait's for types of others.
fn subjects(block: &ItemImpl) -> Vec<String> {
    let mut of = &*block.self_ty;
    while let Type::Reference(syn::TypeReference { elem, .. }) | Type::Paren(syn::TypeParen { elem, .. }) = of {
        of = elem;
    }
    let of = match of {
        Type::Path(path) => Some(&path.path),
        _ => None,
    };
    let paths = of.into_iter().chain(block.trait_.as_ref().map(|(_, path, _)| path));
    paths.filter_map(|path| Some(path.segments.last()?.ident.to_string())).collect()
}

/// The path from the crate's root that a path in a module means; `None` for other crates'.
fn absolute(module: &Module, at: &[String], path: &[String]) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([at, rest].concat()),
        "super" => {
            let up = at.get(..at.len().checked_sub(1)?)?;
            match rest.first().map(String::as_str) {
                Some("super") => absolute(module, up, rest),
                _ => Some([up, rest].concat()),
            }
        }
        name if module.children.contains_key(name) => Some([at, path].concat()),
        name => {
            let is_here = module.items.iter().any(|item| public_name(item).as_deref() == Some(name));
            (is_here && rest.is_empty()).then(|| [at, path].concat())
        }
    }
}

fn clean(item: &mut Item) {
    match item {
        Item::Const(item) => {
            item.attrs.retain(is_kept);
            *item.expr = syn::Expr::Infer(syn::ExprInfer { attrs: Vec::new(), underscore_token: Default::default() });
        }
        Item::Enum(item) => {
            item.attrs.retain(is_kept);
            for variant in &mut item.variants {
                variant.attrs.retain(is_kept);
                variant.fields.iter_mut().for_each(|field| field.attrs.retain(is_kept));
            }
        }
        Item::Fn(item) => {
            item.attrs.retain(is_kept);
            *item.block = empty();
        }
        Item::Macro(item) => item.attrs.retain(is_kept),
        Item::Struct(item) => {
            item.attrs.retain(is_kept);
            hide_fields(&mut item.fields);
        }
        Item::Trait(item) => {
            item.attrs.retain(is_kept);
            item.items.iter_mut().for_each(|item| match item {
                TraitItem::Const(item) => item.attrs.retain(is_kept),
                TraitItem::Fn(item) => {
                    item.attrs.retain(is_kept);
                    item.default = item.default.as_ref().map(|_| empty());
                }
                TraitItem::Type(item) => item.attrs.retain(is_kept),
                _ => {}
            });
        }
        Item::Type(item) => item.attrs.retain(is_kept),
        Item::Static(item) => item.attrs.retain(is_kept),
        _ => {}
    }
}

/// Whether an item of a block is public; its body goes.
fn clean_impl_item(item: &mut ImplItem, is_trait: bool) -> bool {
    match item {
        ImplItem::Const(item) => {
            item.attrs.retain(is_kept);
            is_trait || is_public(&item.vis)
        }
        ImplItem::Fn(item) => {
            let hidden = item.attrs.iter().any(hides);
            item.attrs.retain(is_kept);
            item.block = empty();
            !is_trait && !hidden && is_public(&item.vis)
        }
        ImplItem::Type(item) => {
            item.attrs.retain(is_kept);
            true
        }
        _ => true,
    }
}

fn hide_fields(fields: &mut Fields) {
    fields.iter_mut().for_each(|field| field.attrs.retain(is_kept));
    let unknown = || Type::Infer(syn::TypeInfer { underscore_token: Default::default() });
    match fields {
        Fields::Named(named) => {
            let all = std::mem::take(&mut named.named);
            let hides = all.iter().any(|field| !is_public(&field.vis));
            let last = all.first().cloned().filter(|_| hides).map(|mut field| {
                field.vis = Visibility::Inherited;
                field.ident = Some(Ident::new("_", Span::call_site()));
                field.ty = unknown();
                field
            });
            let public = all.into_iter().filter(|field| is_public(&field.vis));
            named.named = public.chain(last).collect::<Punctuated<_, _>>();
        }
        Fields::Unnamed(unnamed) => {
            for field in unnamed.unnamed.iter_mut().filter(|field| !is_public(&field.vis)) {
                field.ty = unknown();
            }
        }
        Fields::Unit => {}
    }
}

/// A macro that declares items, shown as it is written.
fn declared_by(item: &ItemMacro) -> Item {
    let mut item = item.clone();
    item.attrs.retain(is_kept);
    item.mac.tokens = without_docs(item.mac.tokens);
    Item::Macro(item)
}

fn without_docs(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let is_doc = group.stream().into_iter().next().is_some_and(|t| t.to_string() == "doc");
                if is_doc && group.delimiter() == proc_macro2::Delimiter::Bracket {
                    kept.pop();
                } else {
                    let inner = without_docs(group.stream());
                    kept.push(TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner)));
                }
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn declares(item: &ItemMacro, name: &str) -> bool {
    fn any(tokens: TokenStream, name: &str) -> bool {
        tokens.into_iter().any(|tree| match tree {
            TokenTree::Ident(ident) => ident == name,
            TokenTree::Group(group) => any(group.stream(), name),
            _ => false,
        })
    }
    any(item.mac.tokens.clone(), name)
}

fn unparse(item: Item) -> String {
    prettyplease::unparse(&syn::File { shebang: None, attrs: Vec::new(), items: vec![item] })
}

fn empty() -> Block {
    Block { brace_token: Default::default(), stmts: Vec::new() }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

const KEPT: &[&str] = &[
    "cfg",
    "deprecated",
    "derive",
    "must_use",
    "non_exhaustive",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "repr",
];

fn is_kept(attribute: &Attribute) -> bool {
    KEPT.iter().any(|name| attribute.path().is_ident(name))
}

fn kept(attributes: &[Attribute]) -> Vec<&Attribute> {
    attributes.iter().filter(|attribute| is_kept(attribute)).collect()
}

fn hides(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") && text_of(attribute).contains("hidden")
}

fn is_exported(attribute: &Attribute) -> bool {
    attribute.path().is_ident("macro_export")
}

fn is_hidden(item: &Item) -> bool {
    crate::tidy::attributes(item).iter().any(hides)
}

fn text_of(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(text: &str) -> String {
        let file = syn::parse_file(text).unwrap();
        print(&Module::from_items(file.items, Path::new(""), Path::new("")).unwrap(), "a")
    }

    #[test]
    fn what_is_public_is_shown_and_what_is_not_is_not() {
        let text = surface(
            "/// A.\npub struct Open { pub a: u8, b: u8 }\nstruct Shut;\n\
             impl Open { /// New.\n pub fn new() -> Self { Self { a: 1, b: 2 } } fn hidden() {} }\n\
             impl Clone for Open { fn clone(&self) -> Self { Self::new() } }\n\
             impl Clone for Shut { fn clone(&self) -> Self { Shut } }\n\
             #[doc(hidden)] pub mod internal { pub struct Deep; }\n\
             #[cfg(test)] mod tests { pub struct Test; }\n",
        );
        assert!(text.contains("pub struct Open {\n    pub a: u8,\n    _: _,\n}"), "{text}");
        assert!(text.contains("pub fn new() -> Self {}"), "{text}");
        assert!(text.contains("impl Clone for Open {}"), "{text}");
        for word in ["hidden", "Shut", "New", "internal", "Deep", "Test"] {
            assert!(!text.contains(word), "{word} in\n{text}");
        }
    }

    #[test]
    fn an_item_is_shown_where_it_is_reached() {
        let text = surface(
            "mod inner { pub struct A; pub enum B { C } pub(crate) struct D; mod deep { pub fn e() {} } \
             pub use deep::e; }\n\
             pub use inner::{A, B as Bee, e}; pub use other::Thing;\npub mod open { pub use super::inner::*; }\n",
        );
        let (root, open) = text.split_once("// a::open").unwrap();
        for shown in ["pub struct A;", "// as Bee\npub enum B {", "pub fn e() {}", "pub use other::Thing;"] {
            assert!(root.contains(shown), "{shown} not in\n{root}");
        }
        assert!(open.contains("pub struct A;") && open.contains("pub fn e() {}"), "{open}");
        assert!(!text.contains("D;"), "{text}");
    }

    #[test]
    fn a_macro_that_writes_methods_is_shown_where_it_is_called() {
        let text = surface(
            "macro_rules! named { ($t:ident) => { impl $t { pub fn name(&self) {} } }; }\n\
             mod inside { pub struct A;\nstruct Hidden;\nnamed!(A);\nnamed!(Hidden); }\npub use inside::A;\n",
        );
        assert!(text.contains("named!(A);") && text.contains("pub fn name"), "{text}");
        assert!(!text.contains("Hidden"), "{text}");
    }

    #[test]
    fn what_a_macro_declares_is_shown_as_written() {
        let text =
            surface("mod model { noun! { /// A tool.\n pub struct Tool { name: String } } }\npub use model::Tool;\n");
        assert!(text.contains("noun!"), "{text}");
        assert!(text.contains("pub struct Tool"), "{text}");
        assert!(!text.contains("A tool"), "{text}");
    }
}
