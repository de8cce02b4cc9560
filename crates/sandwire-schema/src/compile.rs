//! From a schema's text to checks.

use std::cmp::Ordering;

use sandwire_json::Kind;

use crate::check::{Check, Counted, Id, Members, Sub};
use crate::decimal::Decimal;
use crate::error::SchemaError;
use crate::format::Format;
use crate::index::{Draft, Index};
use crate::pattern::Pattern;
use crate::schema::{Compiler, Schema};
use crate::tree::{At, ROOT, Tree};
use crate::words::TYPES;

pub(crate) fn compile(compiler: &Compiler<'_>, schema: &str) -> Result<Schema, SchemaError> {
    let tree = Tree::parse(schema)
        .map_err(|error| SchemaError::at(error.path().to_owned(), "", &["a schema is JSON text: ", error.message()]))?;
    let index = Index::new(&tree)?;
    let draft = index.draft(0);
    let ids = vec![None; tree.len()];
    let mut build = Build { compiler, tree: &tree, index, ids, open: Vec::new(), subs: Vec::new() };
    build.sub(ROOT)?;
    while let Some((at, id)) = build.open.pop() {
        let sub = build.schema(at)?;
        if let Some(place) = build.subs.get_mut(id as usize) {
            *place = sub;
        }
    }
    let subs = build.subs;
    Ok(Schema { tree, subs, draft, limits: compiler.limits })
}

/// The keywords that bound a number of things: what they count, and whether there may be more or fewer.
const COUNTS: [(&str, Counted, bool); 6] = [
    ("minLength", Counted::Characters, false),
    ("maxLength", Counted::Characters, true),
    ("minItems", Counted::Items, false),
    ("maxItems", Counted::Items, true),
    ("minProperties", Counted::Members, false),
    ("maxProperties", Counted::Members, true),
];

/// The keywords that bound a number: what is said, and how the number may not be ordered to the bound.
const BOUNDS: [(&str, &str, [Ordering; 2]); 4] = [
    ("minimum", "must be at least ", [Ordering::Less, Ordering::Less]),
    ("maximum", "must be at most ", [Ordering::Greater, Ordering::Greater]),
    ("exclusiveMinimum", "must be above ", [Ordering::Less, Ordering::Equal]),
    ("exclusiveMaximum", "must be below ", [Ordering::Greater, Ordering::Equal]),
];

struct Build<'a> {
    compiler: &'a Compiler<'a>,
    tree: &'a Tree,
    index: Index,
    /// The schemas that have a place already, by where they stand.
    ids: Vec<Option<Id>>,
    /// Those that have a place and are not compiled.
    open: Vec<(At, Id)>,
    subs: Vec<Sub>,
}

impl<'a> Build<'a> {
    /// The place of the schema at `at`, which is compiled later.
    fn sub(&mut self, at: At) -> Result<Id, SchemaError> {
        if let Some(Some(id)) = self.ids.get(at as usize) {
            return Ok(*id);
        }
        let id = self.subs.len() as Id;
        if id >= self.compiler.limits.schemas {
            return Err(self.error(at, "", &["the schema has too many schemas in it: make it smaller"]));
        }
        if !matches!(self.tree.kind(at), Kind::Object | Kind::Bool) {
            return Err(self.error(at, "", &["a schema is an object, true or false"]));
        }
        if let Some(place) = self.ids.get_mut(at as usize) {
            *place = Some(id);
        }
        self.subs.push(Sub::default());
        self.open.push((at, id));
        Ok(id)
    }

    #[inline(never)]
    fn error(&self, at: At, keyword: &'static str, message: &[&str]) -> SchemaError {
        SchemaError::new(self.tree, at, keyword, message)
    }

    fn schema(&mut self, at: At) -> Result<Sub, SchemaError> {
        let resource = self.index.owner(at);
        let draft = self.index.draft(resource);
        let mut sub = Sub { resource, ..Sub::default() };
        if self.tree.is(at, Kind::Bool) {
            if self.tree.text(at) == "false" {
                sub.checks.push(Check::Never);
            }
            return Ok(sub);
        }
        if draft == Draft::Draft7
            && let Some(reference) = self.tree.get(at, "$ref")
        {
            sub.checks.push(self.reference(at, reference, "$ref")?);
            return Ok(sub);
        }
        let mut rest = Vec::new();
        for member in self.tree.children(at) {
            match (self.tree.name(member), draft) {
                ("unevaluatedItems", Draft::Draft202012) => {
                    rest.push(Check::Rest(self.sub(member)?, "unevaluatedItems"));
                }
                ("unevaluatedProperties", Draft::Draft202012) => {
                    rest.push(Check::Rest(self.sub(member)?, "unevaluatedProperties"));
                }
                (keyword, _) => {
                    self.assertion(member, keyword, &mut sub.checks)?;
                    self.applicator(at, member, keyword, draft, &mut sub.checks)?;
                }
            }
        }
        self.members(at, &mut sub.checks)?;
        self.items(at, draft, &mut sub.checks)?;
        sub.looks_back = !rest.is_empty();
        sub.checks.extend(rest);
        Ok(sub)
    }

    /// A keyword without schemas in it.
    fn assertion(&self, at: At, keyword: &str, checks: &mut Vec<Check>) -> Result<(), SchemaError> {
        if let Some((keyword, what, most)) = COUNTS.iter().copied().find(|(name, ..)| *name == keyword) {
            let bound = Some(at).filter(|at| self.tree.is(*at, Kind::Number));
            let bound = bound.and_then(|at| Decimal::parse(self.tree.text(at)).count());
            let bound = bound.ok_or_else(|| self.error(at, keyword, &[keyword, " has to be a number from 0 on"]))?;
            checks.push(Check::Count { what, bound, most, keyword });
        }
        if let Some((keyword, words, refused)) = BOUNDS.iter().copied().find(|(name, ..)| *name == keyword) {
            let bound = self.number(at, keyword)?;
            checks.push(Check::Bound { bound, at, refused, keyword, words });
        }
        let check = match keyword {
            "type" => Check::Type(self.types(at)?),
            "const" => Check::Const(at),
            "enum" => {
                self.expect(at, "enum", Kind::Array, "an array")?;
                Check::Enum(at)
            }
            "multipleOf" => {
                let divisor = self.number(at, "multipleOf")?;
                if !divisor.divides() {
                    let message = "multipleOf has to be a number above 0, of at most 18 digits";
                    return Err(self.error(at, "multipleOf", &[message]));
                }
                Check::MultipleOf(divisor, at)
            }
            "uniqueItems" => {
                self.expect(at, "uniqueItems", Kind::Bool, "true or false")?;
                if self.tree.text(at) == "false" {
                    return Ok(());
                }
                Check::Unique
            }
            "pattern" => {
                self.expect(at, "pattern", Kind::String, "a string")?;
                Check::Pattern(self.pattern(at, "pattern", self.tree.text(at))?, at)
            }
            "format" if self.compiler.formats => match Format::named(self.tree.text(at)) {
                Some(format) => Check::Format(format),
                None => return Ok(()),
            },
            "required" => {
                self.names(at, "required")?;
                Check::Required(at)
            }
            _ => return Ok(()),
        };
        checks.push(check);
        Ok(())
    }

    /// A keyword with schemas in it, or with a reference to one.
    fn applicator(
        &mut self,
        at: At,
        member: At,
        keyword: &str,
        draft: Draft,
        checks: &mut Vec<Check>,
    ) -> Result<(), SchemaError> {
        let is_new = draft == Draft::Draft202012;
        let check = match keyword {
            "$ref" => self.reference(at, member, "$ref")?,
            "$dynamicRef" if is_new => self.reference(at, member, "$dynamicRef")?,
            "allOf" => Check::All(self.list(member, "allOf")?),
            "anyOf" => Check::Any(self.list(member, "anyOf")?),
            "oneOf" => Check::One(self.list(member, "oneOf")?),
            "not" => Check::Not(self.sub(member)?),
            "if" => {
                let branch = |build: &mut Self, name| build.tree.get(at, name).map(|at| build.sub(at)).transpose();
                let (then, otherwise) = (branch(self, "then")?, branch(self, "else")?);
                Check::If { condition: self.sub(member)?, then, otherwise }
            }
            "propertyNames" => Check::Names(self.sub(member)?),
            "contains" => {
                let bound = |name, absent| match self.tree.get(at, name).filter(|_| is_new) {
                    None => Ok(absent),
                    Some(at) => self.number(at, name).map(|number| number.count().unwrap_or(absent)),
                };
                let (least, most) = (bound("minContains", 1)?, bound("maxContains", u64::MAX)?);
                Check::Contains { item: self.sub(member)?, least, most, marks: is_new }
            }
            "dependentSchemas" if is_new => {
                self.expect(member, "dependentSchemas", Kind::Object, "an object")?;
                Check::DependentSchemas(self.named(member, Kind::Null)?)
            }
            "dependentRequired" if is_new => {
                self.expect(member, "dependentRequired", Kind::Object, "an object")?;
                for names in self.tree.children(member) {
                    self.names(names, "dependentRequired")?;
                }
                Check::DependentRequired(member, "dependentRequired")
            }
            // Before the versions above were two keywords, their values were told apart.
            "dependencies" => {
                self.expect(member, "dependencies", Kind::Object, "an object")?;
                for names in self.tree.children(member).filter(|value| self.tree.is(*value, Kind::Array)) {
                    self.names(names, "dependencies")?;
                }
                let schemas = self.named(member, Kind::Array)?;
                let id = self.subs.len() as Id;
                self.subs.push(Sub {
                    checks: vec![Check::DependentRequired(member, "dependencies"), Check::DependentSchemas(schemas)],
                    resource: self.index.owner(at),
                    looks_back: false,
                });
                Check::All(vec![id])
            }
            _ => return Ok(()),
        };
        checks.push(check);
        Ok(())
    }

    /// `properties`, `patternProperties` and `additionalProperties`.
    fn members(&mut self, at: At, checks: &mut Vec<Check>) -> Result<(), SchemaError> {
        let mut members = Members::default();
        let tree = self.tree;
        if let Some(named) = tree.get(at, "properties") {
            self.expect(named, "properties", Kind::Object, "an object")?;
            members.named = self.named(named, Kind::Null)?;
            members.named.sort_unstable_by(|(a, _), (b, _)| tree.name(*a).cmp(tree.name(*b)));
        }
        if let Some(patterns) = tree.get(at, "patternProperties") {
            self.expect(patterns, "patternProperties", Kind::Object, "an object")?;
            for member in tree.children(patterns) {
                let pattern = self.pattern(member, "patternProperties", tree.name(member))?;
                members.patterns.push((pattern, self.sub(member)?));
            }
        }
        if let Some(rest) = tree.get(at, "additionalProperties") {
            members.rest = Some(self.sub(rest)?);
        }
        let any = !members.named.is_empty() || !members.patterns.is_empty() || members.rest.is_some();
        if any {
            checks.push(Check::Members(members));
        }
        Ok(())
    }

    /// `prefixItems` and `items`, or `items` and `additionalItems`.
    fn items(&mut self, at: At, draft: Draft, checks: &mut Vec<Check>) -> Result<(), SchemaError> {
        let (first, rest, keyword) = match (draft, self.tree.get(at, "items")) {
            (Draft::Draft202012, rest) => (self.tree.get(at, "prefixItems"), rest, "items"),
            (Draft::Draft7, Some(first)) if self.tree.is(first, Kind::Array) => {
                (Some(first), self.tree.get(at, "additionalItems"), "additionalItems")
            }
            (Draft::Draft7, rest) => (None, rest, "items"),
        };
        if first.is_none() && rest.is_none() {
            return Ok(());
        }
        let first = first.map_or(Ok(Vec::new()), |first| self.list(first, "prefixItems"))?;
        let rest = rest.map(|rest| self.sub(rest)).transpose()?;
        checks.push(Check::Items { first, rest, keyword });
        Ok(())
    }

    fn reference(&mut self, from: At, at: At, keyword: &'static str) -> Result<Check, SchemaError> {
        self.expect(at, keyword, Kind::String, "a string")?;
        let reference = self.tree.text(at);
        let target = self.index.resolve(self.tree, from, reference)?.ok_or_else(|| {
            let advice = "\" leads to nothing in this schema, and nothing is fetched: put what it means under \
                          \"$defs\" and refer to it there";
            self.error(at, keyword, &["the reference \"", reference, advice])
        })?;
        let fallback = self.sub(target.at)?;
        if keyword == "$ref" || !target.dynamic {
            return Ok(Check::Ref(fallback));
        }
        let name = self.tree.string(target.at, "$dynamicAnchor").unwrap_or_default();
        let named: Vec<_> = self.index.dynamic(name).collect();
        let meanings =
            named.into_iter().map(|(resource, at)| Ok((resource, self.sub(at)?))).collect::<Result<_, _>>()?;
        Ok(Check::DynamicRef { fallback, meanings })
    }

    fn list(&mut self, at: At, keyword: &'static str) -> Result<Vec<Id>, SchemaError> {
        self.expect(at, keyword, Kind::Array, "an array of schemas")?;
        let mut ids = Vec::new();
        for item in self.tree.children(at) {
            ids.push(self.sub(item)?);
        }
        Ok(ids)
    }

    /// The members of an object that are schemas, which is all but those of one kind.
    fn named(&mut self, at: At, except: Kind) -> Result<Vec<(At, Id)>, SchemaError> {
        let mut ids = Vec::new();
        for member in self.tree.children(at) {
            if except == Kind::Null || !self.tree.is(member, except) {
                ids.push((member, self.sub(member)?));
            }
        }
        Ok(ids)
    }

    fn pattern(&self, at: At, keyword: &'static str, source: &str) -> Result<Box<dyn Pattern>, SchemaError> {
        self.compiler.patterns.pattern(source).ok_or_else(|| {
            let advice = "\" cannot be used: write a regular expression of ECMAScript, or bring an engine for them";
            self.error(at, keyword, &["the pattern \"", source, advice])
        })
    }

    fn number(&self, at: At, keyword: &'static str) -> Result<Decimal, SchemaError> {
        self.expect(at, keyword, Kind::Number, "a number")?;
        Ok(Decimal::parse(self.tree.text(at)))
    }

    fn types(&self, at: At) -> Result<u8, SchemaError> {
        let one = |at| {
            let name = Some(self.tree.text(at)).filter(|_| self.tree.is(at, Kind::String));
            let bit = name.and_then(|name| TYPES.iter().position(|(known, _)| *known == name));
            let message = "a type is one of array, boolean, integer, null, number, object, string";
            bit.map(|bit| 1 << bit).ok_or_else(|| self.error(at, "type", &[message]))
        };
        if self.tree.is(at, Kind::Array) {
            self.tree.children(at).try_fold(0, |types, at| Ok(types | one(at)?))
        } else {
            one(at)
        }
    }

    /// Checks that a value is an array of strings.
    fn names(&self, at: At, keyword: &'static str) -> Result<(), SchemaError> {
        self.expect(at, keyword, Kind::Array, "an array of names")?;
        self.tree.children(at).try_for_each(|name| self.expect(name, keyword, Kind::String, "an array of names"))
    }

    fn expect(&self, at: At, keyword: &'static str, kind: Kind, words: &str) -> Result<(), SchemaError> {
        if self.tree.is(at, kind) { Ok(()) } else { Err(self.error(at, keyword, &[keyword, " has to be ", words])) }
    }
}
