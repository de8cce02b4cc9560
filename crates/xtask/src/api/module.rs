//! A crate as a tree of modules, read from its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta, UseTree, Visibility};

/// A module: its items without what only tests compile, and the modules inside.
#[derive(Default)]
pub struct Module {
    pub items: Vec<Item>,
    pub children: BTreeMap<String, Module>,
}

/// Something that a `use` names: a path, and the name it gets, which a glob does not give.
pub struct Import {
    pub path: Vec<String>,
    pub name: Option<String>,
}

impl Module {
    /// Reads a crate from its first file.
    pub fn read(lib: &Path) -> Result<Self> {
        let folder = lib.parent().context("a file is in a folder")?;
        Self::from_items(parse(lib)?, folder, folder)
    }

    /// Reads the modules that `items` declare: from files in `folder`, or where they say, seen from
    /// the folder of the file they are in.
    pub fn from_items(items: Vec<Item>, folder: &Path, file_folder: &Path) -> Result<Self> {
        let mut module = Self::default();
        for item in items {
            if crate::tidy::is_for_tests(&item) {
                continue;
            }
            if let Item::Mod(declared) = &item {
                let name = declared.ident.to_string();
                let inside = folder.join(&name);
                let child = match (&declared.content, said_path(declared)) {
                    (Some((_, items)), _) => Self::from_items(items.clone(), &inside, file_folder)?,
                    (None, Some(path)) => {
                        let file = file_folder.join(path);
                        let folder = file.parent().unwrap_or(file_folder);
                        Self::from_items(parse(&file)?, folder, folder)?
                    }
                    (None, None) if inside.join("mod.rs").is_file() => {
                        Self::from_items(parse(&inside.join("mod.rs"))?, &inside, &inside)?
                    }
                    (None, None) => {
                        let file = folder.join(format!("{name}.rs"));
                        Self::from_items(parse(&file)?, &inside, folder)?
                    }
                };
                module.children.insert(name, child);
            }
            module.items.push(item);
        }
        Ok(module)
    }

    /// The module at a path of names.
    pub fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |module, name| module.children.get(name))
    }
}

fn parse(file: &Path) -> Result<Vec<Item>> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let file = syn::parse_file(&text).with_context(|| format!("parsing {}", file.display()))?;
    Ok(file.items)
}

/// The file that a `#[path = "…"]` names.
fn said_path(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

/// What a `use` brings in, one by one.
pub fn imports(tree: &UseTree) -> Vec<Import> {
    let mut found = Vec::new();
    collect(tree, &mut Vec::new(), &mut found);
    found
}

fn collect(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Import>) {
    let mut add = |last: Option<String>, name: Option<String>| {
        let mut path = path.clone();
        path.extend(last.filter(|last| last != "self"));
        let name = name.map(|name| if name == "self" { path.last().cloned().unwrap_or_default() } else { name });
        found.push(Import { path, name });
    };
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            collect(&step.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) => add(Some(name.ident.to_string()), Some(name.ident.to_string())),
        UseTree::Rename(name) => add(Some(name.ident.to_string()), Some(name.rename.to_string())),
        UseTree::Glob(_) => add(None, None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, path, found)),
    }
}

/// The name of an item that others can use, if it has one.
pub fn public_name(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Mod(item) => (&item.vis, &item.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}
