//! Which schemas a document has, and by what names they refer to each other.

use sandwire_json::Kind;

use crate::error::SchemaError;
use crate::tree::{At, ROOT, Tree};
use crate::uri;

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Draft {
    /// Draft 7 of 2018.
    Draft7,
    /// The version of 2020-12, which is that of a schema that names none.
    Draft202012,
}

impl Draft {
    /// The draft that a `$schema` names.
    fn named(uri: &str) -> Option<Self> {
        let (uri, fragment) = uri::split(uri);
        let after = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match (after, fragment) {
            ("json-schema.org/draft/2020-12/schema", "") => Some(Self::Draft202012),
            ("json-schema.org/draft-07/schema", "") => Some(Self::Draft7),
            _ => None,
        }
    }
}

/// A schema with an address of its own, and what belongs to it.
#[derive(Debug)]
pub(crate) struct Resource {
    uri: String,
    root: At,
    pub(crate) draft: Draft,
}

#[derive(Debug)]
struct Anchor {
    resource: u32,
    name: String,
    at: At,
    dynamic: bool,
}

/// The names in a document.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) resources: Vec<Resource>,
    anchors: Vec<Anchor>,
    /// The resource of each value that is a schema.
    owners: Vec<Option<u32>>,
}

/// What a reference leads to.
pub(crate) struct Target {
    pub(crate) at: At,
    /// The name, if it is one that others may stand for.
    pub(crate) dynamic: bool,
}

/// How a keyword holds schemas.
enum Holds {
    One,
    Many,
    Named,
}

/// The keywords that hold schemas; `items` and `dependencies` are seen by the type of what they have.
fn holds(keyword: &str, kind: Kind) -> Option<Holds> {
    match (keyword, kind) {
        ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies", _) => {
            Some(Holds::Named)
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", _) | ("items", Kind::Array) => Some(Holds::Many),
        (
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema",
            _,
        ) => Some(Holds::One),
        _ => None,
    }
}

impl Index {
    pub(crate) fn new(tree: &Tree) -> Result<Self, SchemaError> {
        let root = Resource { uri: String::new(), root: ROOT, draft: Draft::Draft202012 };
        let mut index = Self { resources: vec![root], anchors: Vec::new(), owners: vec![None; tree.len()] };
        index.add(tree, ROOT, 0)?;
        Ok(index)
    }

    /// The resource that a schema belongs to.
    pub(crate) fn owner(&self, at: At) -> u32 {
        self.owners.get(at as usize).copied().flatten().unwrap_or(0)
    }

    pub(crate) fn draft(&self, resource: u32) -> Draft {
        self.resources.get(resource as usize).map_or(Draft::Draft202012, |resource| resource.draft)
    }

    /// Finds the schemas in and below the value at `at`.
    fn add(&mut self, tree: &Tree, at: At, resource: u32) -> Result<(), SchemaError> {
        let mut open = vec![(at, resource)];
        while let Some((at, mut resource)) = open.pop() {
            match self.owners.get_mut(at as usize) {
                Some(owner @ None) => *owner = Some(resource),
                _ => continue,
            }
            if !tree.is(at, Kind::Object) {
                continue;
            }
            resource = self.name(tree, at, resource)?;
            for member in tree.children(at) {
                match holds(tree.name(member), tree.kind(member)) {
                    Some(Holds::One) => open.push((member, resource)),
                    Some(Holds::Many | Holds::Named) => {
                        open.extend(tree.children(member).map(|child| (child, resource)));
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Takes note of the names of one schema, and gives the resource that it belongs to.
    fn name(&mut self, tree: &Tree, at: At, mut resource: u32) -> Result<u32, SchemaError> {
        let id = tree.string(at, "$id");
        let dialect = if at == ROOT || id.is_some() { tree.string(at, "$schema") } else { None };
        let mut draft = self.draft(resource);
        if let Some(dialect) = dialect {
            draft = Draft::named(dialect).ok_or_else(|| {
                SchemaError::new(
                    tree,
                    at,
                    "$schema",
                    &["the dialect \"", dialect, "\" is not supported: use draft 2020-12 or draft-07"],
                )
            })?;
        }
        // In draft 7 a reference hides what stands beside it.
        if draft == Draft::Draft7 && tree.get(at, "$ref").is_some() && at != ROOT {
            return Ok(resource);
        }
        if at == ROOT
            && let Some(root) = self.resources.first_mut()
        {
            root.draft = draft;
        }
        if let Some(id) = id {
            let (address, fragment) = uri::split(id);
            if !address.is_empty() {
                let base = self.resources.get(resource as usize).map_or("", |resource| resource.uri.as_str());
                let uri = uri::resolve(base, address);
                match self.resources.first_mut() {
                    Some(root) if at == ROOT => root.uri = uri,
                    _ => {
                        resource = self.resources.len() as u32;
                        self.resources.push(Resource { uri, root: at, draft });
                    }
                }
                if let Some(owner) = self.owners.get_mut(at as usize) {
                    *owner = Some(resource);
                }
            }
            if draft == Draft::Draft7 && !fragment.is_empty() {
                self.anchors.push(Anchor { resource, name: fragment.to_owned(), at, dynamic: false });
            }
        }
        if draft == Draft::Draft202012 {
            for (keyword, dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
                if let Some(name) = tree.string(at, keyword) {
                    self.anchors.push(Anchor { resource, name: name.to_owned(), at, dynamic });
                }
            }
        }
        Ok(resource)
    }

    /// What a reference in a schema leads to.
    pub(crate) fn resolve(&mut self, tree: &Tree, from: At, reference: &str) -> Result<Option<Target>, SchemaError> {
        let (address, fragment) = uri::split(reference);
        let fragment = uri::decoded(fragment);
        let base = self.owner(from);
        let uri = uri::resolve(self.resources.get(base as usize).map_or("", |base| base.uri.as_str()), address);
        let Some((owner, root)) = (0u32..)
            .zip(&self.resources)
            .find(|(number, resource)| if address.is_empty() { *number == base } else { resource.uri == uri })
            .map(|(number, resource)| (number, resource.root))
        else {
            return Ok(None);
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let anchor = self.anchors.iter().find(|anchor| anchor.resource == owner && anchor.name == fragment);
            return Ok(anchor.map(|anchor| Target { at: anchor.at, dynamic: anchor.dynamic }));
        }
        let mut at = root;
        let mut owner = owner;
        let mut rest = fragment.get(1..);
        while let Some(pointer) = rest {
            let (token, after) = uri::cut(pointer, b'/').map_or((pointer, None), |(token, after)| (token, Some(after)));
            rest = after;
            let token = uri::unescaped(token);
            let found = match tree.kind(at) {
                Kind::Array => token.parse::<usize>().ok().and_then(|index| tree.children(at).nth(index)),
                _ => tree.get(at, &token),
            };
            let Some(found) = found else {
                return Ok(None);
            };
            at = found;
            owner = self.owners.get(at as usize).copied().flatten().unwrap_or(owner);
        }
        // It may be where no keyword holds schemas.
        self.add(tree, at, owner)?;
        Ok(Some(Target { at, dynamic: false }))
    }

    /// The schemas that may stand for a name, with their resources.
    pub(crate) fn dynamic<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (u32, At)> + 'a {
        let named = self.anchors.iter().filter(move |anchor| anchor.dynamic && anchor.name == name);
        named.map(|anchor| (anchor.resource, anchor.at))
    }
}
