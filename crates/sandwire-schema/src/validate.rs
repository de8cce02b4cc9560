//! A value beside its schema.

use sandwire_json::Kind;

use crate::check::{Check, Counted, Id, Members, Sub};
use crate::decimal::Decimal;
use crate::error::{Errors, Violation};
use crate::schema::Schema;
use crate::tree::{At, ROOT, Tree};
use crate::words::{self, Words};

pub(crate) fn validate(schema: &Schema, instance: &str) -> Result<(), Errors> {
    let value = Tree::parse(instance).map_err(|error| {
        let message = ["the value is not JSON: ", error.message()].concat();
        Errors { violations: vec![Violation { path: error.path().to_owned(), keyword: "", message }] }
    })?;
    let mut run = Run {
        schema,
        value: &value,
        steps: 0,
        depth: 0,
        silent: 0,
        exhausted: None,
        scope: Vec::new(),
        violations: Vec::new(),
    };
    let valid = run.apply(ROOT, ROOT, "", None);
    if let Some(message) = run.exhausted {
        // The verdict is open, and what was found so far may be wrong.
        run.violations = vec![Violation { path: String::new(), keyword: "", message: message.to_owned() }];
    } else if valid {
        return Ok(());
    }
    Err(Errors { violations: run.violations })
}

/// Which children of a value were looked at, in their order.
type Marks<'m> = Option<&'m mut Vec<bool>>;

struct Run<'a> {
    schema: &'a Schema,
    value: &'a Tree,
    steps: u64,
    depth: u32,
    /// Above zero where a check that fails is no violation.
    silent: u32,
    /// The limit that was met.
    exhausted: Option<&'static str>,
    /// The resources on the way to the schema at hand.
    scope: Vec<u32>,
    violations: Vec<Violation>,
}

impl Run<'_> {
    /// Whether a value is what a schema wants, by whose `keyword` it is asked.
    fn apply(&mut self, id: Id, at: At, keyword: &'static str, marks: Marks<'_>) -> bool {
        let Some(sub) = self.schema.subs.get(id as usize) else {
            return true;
        };
        if self.depth >= self.schema.limits.depth {
            self.exhausted =
                Some("the check goes too deep: the schema's references go round, or the value is nested deep");
        }
        if self.exhausted.is_some() {
            return false;
        }
        self.depth += 1;
        let enters = self.scope.last() != Some(&sub.resource);
        if enters {
            self.scope.push(sub.resource);
        }
        let valid = if sub.looks_back {
            let mut own = self.unmarked(at);
            let valid = self.checks(sub, at, keyword, Some(&mut own));
            if let Some(marks) = marks {
                merge(marks, &own);
            }
            valid
        } else {
            self.checks(sub, at, keyword, marks)
        };
        if enters {
            self.scope.pop();
        }
        self.depth -= 1;
        valid
    }

    fn checks(&mut self, sub: &Sub, at: At, keyword: &'static str, mut marks: Marks<'_>) -> bool {
        let mut valid = true;
        for check in &sub.checks {
            self.charge(1);
            valid &= self.check(check, at, keyword, marks.as_deref_mut());
            if self.exhausted.is_some() || !valid && self.silent > 0 || self.is_full() {
                return false;
            }
        }
        valid
    }

    /// Whether a schema fits, where it is no fault if it does not.
    fn fits(&mut self, id: Id, at: At, marks: Marks<'_>) -> bool {
        self.silent += 1;
        let fits = match marks {
            None => self.apply(id, at, "", None),
            Some(marks) => {
                let mut own = self.unmarked(at);
                let fits = self.apply(id, at, "", Some(&mut own));
                if fits {
                    merge(marks, &own);
                }
                fits
            }
        };
        self.silent -= 1;
        fits
    }

    fn unmarked(&self, at: At) -> Vec<bool> {
        vec![false; self.value.children(at).count()]
    }

    #[inline(never)]
    fn charge(&mut self, steps: u64) {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.schema.limits.steps {
            self.exhausted = Some("the check takes too long: the schema asks for too much, or the value is too large");
        }
    }

    fn is_full(&self) -> bool {
        self.violations.len() >= self.schema.limits.errors.max(1)
    }

    /// Takes note of a violation, unless it is none.
    fn require(&mut self, valid: bool, at: At, keyword: &'static str, words: Words<'_>) -> bool {
        if !valid && self.silent == 0 && !self.is_full() {
            let mut path = String::new();
            self.value.pointer(at, &mut path);
            self.violations.push(Violation { path, keyword, message: words.spelled(&self.schema.tree) });
        }
        valid
    }

    fn check(&mut self, check: &Check, at: At, keyword: &'static str, marks: Marks<'_>) -> bool {
        let value = self.value;
        let kind = value.kind(at);
        match check {
            Check::Never => self.never(at, keyword),
            Check::Type(types) => {
                let bit = words::bit(kind);
                let fits = types & bit != 0
                    || types & words::INTEGER != 0 && kind == Kind::Number && is_integer(value.text(at));
                self.require(fits, at, "type", Words::Types(*types))
            }
            Check::Const(wanted) => {
                let equal = self.equal(&self.schema.tree, *wanted, at);
                self.require(equal, at, "const", Words::Value("must be ", *wanted))
            }
            Check::Enum(wanted) => {
                let tree = &self.schema.tree;
                let equal = tree.children(*wanted).any(|wanted| self.equal(tree, wanted, at));
                self.require(equal, at, "enum", Words::Children(*wanted))
            }
            Check::MultipleOf(divisor, wanted) if kind == Kind::Number => {
                let fits = self.number(at).is_multiple_of(divisor);
                self.require(fits, at, "multipleOf", Words::Value("must be a multiple of ", *wanted))
            }
            Check::Bound { bound, at: wanted, refused, keyword, words } if kind == Kind::Number => {
                let order = self.number(at).compare(bound);
                self.require(!refused.contains(&order), at, keyword, Words::Value(words, *wanted))
            }
            Check::Count { what, bound, most, keyword } => self.count(*what, *bound, *most, keyword, at),
            Check::Pattern(pattern, wanted) if kind == Kind::String => {
                self.charge(length(value.text(at)) / 16);
                let fits = self.exhausted.is_none() && pattern.is_match(value.text(at));
                self.require(fits, at, "pattern", Words::Value("must match the pattern ", *wanted))
            }
            Check::Format(format) if kind == Kind::String => {
                self.charge(length(value.text(at)) / 16);
                let fits = format.accepts(value.text(at));
                self.require(fits, at, "format", Words::Plain(format.words()))
            }
            Check::Unique if kind == Kind::Array => {
                let unique = self.is_unique(at);
                self.require(unique, at, "uniqueItems", Words::Plain("must not have the same item twice"))
            }
            Check::Required(names) if kind == Kind::Object => self.required(*names, at, "required"),
            Check::DependentRequired(dependent, keyword) if kind == Kind::Object => {
                let tree = &self.schema.tree;
                let mut valid = true;
                for names in tree.children(*dependent).filter(|names| tree.is(*names, Kind::Array)) {
                    if self.member(at, tree.name(names)).is_some() {
                        valid &= self.required(names, at, keyword);
                    }
                }
                valid
            }
            Check::DependentSchemas(dependent) if kind == Kind::Object => {
                let tree = &self.schema.tree;
                let wanted = dependent.iter().filter(|(name, _)| value.get(at, tree.name(*name)).is_some());
                let wanted: Vec<_> = wanted.map(|(_, id)| *id).collect();
                self.all(&wanted, at, marks)
            }
            Check::Members(members) if kind == Kind::Object => self.members(members, at, marks),
            Check::Names(id) if kind == Kind::Object => {
                value.children(at).all(|member| self.name_fits(*id, member)) || self.exhausted.is_some()
            }
            Check::Items { first, rest, keyword } if kind == Kind::Array => {
                self.items(first, *rest, keyword, at, marks)
            }
            Check::Contains { item, least, most, marks: marked } if kind == Kind::Array => {
                self.contains(*item, *least, *most, at, marks.filter(|_| *marked))
            }
            Check::All(ids) => self.all(ids, at, marks),
            Check::Any(ids) => self.any(ids, at, marks),
            Check::One(ids) => self.one(ids, at, marks),
            Check::Not(id) => {
                let fits = self.fits(*id, at, None);
                self.require(!fits, at, "not", Words::Plain("must not be what the schema excludes: change it"))
            }
            Check::If { condition, then, otherwise } => {
                let mut marks = marks;
                let branch = if self.fits(*condition, at, marks.as_deref_mut()) { then } else { otherwise };
                branch.is_none_or(|id| self.apply(id, at, "if", marks))
            }
            Check::Ref(id) => self.apply(*id, at, keyword, marks),
            Check::DynamicRef { fallback, meanings } => {
                let meaning = |resource: &u32| meanings.iter().find(|(of, _)| of == resource).map(|(_, id)| *id);
                let id = self.scope.iter().find_map(meaning).unwrap_or(*fallback);
                self.apply(id, at, keyword, marks)
            }
            Check::Rest(id, keyword) => self.rest(*id, at, keyword, marks),
            _ => true,
        }
    }

    fn never(&mut self, at: At, keyword: &'static str) -> bool {
        let words = match keyword {
            "additionalProperties" | "unevaluatedProperties" => "there is no such property: remove it",
            "items" | "additionalItems" | "unevaluatedItems" => "is one item too many: remove it",
            _ => "nothing is allowed here: remove it",
        };
        self.require(false, at, keyword, Words::Plain(words))
    }

    fn number(&mut self, at: At) -> Decimal {
        let text = self.value.text(at);
        self.charge(length(text) / 16);
        Decimal::parse(text)
    }

    fn count(&mut self, what: Counted, bound: u64, most: bool, keyword: &'static str, at: At) -> bool {
        let kind = self.value.kind(at);
        let (count, noun) = match (what, kind) {
            (Counted::Characters, Kind::String) => (self.value.text(at).chars().count(), "character"),
            (Counted::Items, Kind::Array) => (self.value.children(at).count(), "item"),
            (Counted::Members, Kind::Object) => (self.value.children(at).count(), "property"),
            _ => return true,
        };
        self.charge(count as u64 / 16);
        let fits = if most { count as u64 <= bound } else { count as u64 >= bound };
        self.require(fits, at, keyword, Words::Count { noun, bound, most, more: "" })
    }

    /// A member by its name.
    fn member(&mut self, at: At, name: &str) -> Option<At> {
        let value = self.value;
        let mut passed = 0;
        let found = value.children(at).find(|member| {
            passed += 1;
            value.name(*member) == name
        });
        self.charge(passed / 4);
        found
    }

    fn required(&mut self, names: At, at: At, keyword: &'static str) -> bool {
        let tree = &self.schema.tree;
        let mut valid = true;
        for name in tree.children(names) {
            let found = self.member(at, tree.text(name)).is_some();
            valid &= self.require(found, at, keyword, Words::Missing(name));
        }
        valid
    }

    fn members(&mut self, members: &Members, at: At, mut marks: Marks<'_>) -> bool {
        let tree = &self.schema.tree;
        let mut valid = true;
        for (index, member) in self.value.children(at).enumerate() {
            let name = self.value.name(member);
            let mut known = false;
            self.charge(1);
            if let Ok(place) = members.named.binary_search_by(|(named, _)| tree.name(*named).cmp(name))
                && let Some((_, id)) = members.named.get(place)
            {
                known = true;
                valid &= self.apply(*id, member, "properties", None);
            }
            for (pattern, id) in &members.patterns {
                self.charge(1 + length(name) / 16);
                if pattern.is_match(name) {
                    known = true;
                    valid &= self.apply(*id, member, "patternProperties", None);
                }
            }
            if let Some(rest) = members.rest.filter(|_| !known) {
                known = true;
                valid &= self.apply(rest, member, "additionalProperties", None);
            }
            if known {
                mark(&mut marks, index);
            }
            if self.has_ended(valid) {
                return false;
            }
        }
        valid
    }

    /// Whether there is no need to go on.
    fn has_ended(&self, valid: bool) -> bool {
        self.exhausted.is_some() || !valid && (self.silent > 0 || self.is_full())
    }

    /// Whether the name of a member is what a schema wants.
    fn name_fits(&mut self, id: Id, member: At) -> bool {
        let name = self.value.name(member);
        let text = sandwire_json::to_raw(name);
        self.charge(1);
        let Ok(tree) = Tree::parse(text.as_str()) else {
            return true;
        };
        let mut run = Run {
            schema: self.schema,
            value: &tree,
            steps: self.steps,
            depth: self.depth,
            silent: self.silent + 1,
            exhausted: None,
            scope: self.scope.clone(),
            violations: Vec::new(),
        };
        let fits = run.apply(id, ROOT, "", None);
        (self.steps, self.exhausted) = (run.steps, run.exhausted.or(self.exhausted));
        let words = Words::Plain("has a name that is not allowed here: rename or remove it");
        self.require(fits, member, "propertyNames", words)
    }

    fn items(&mut self, first: &[Id], rest: Option<Id>, keyword: &'static str, at: At, mut marks: Marks<'_>) -> bool {
        let mut valid = true;
        for (index, item) in self.value.children(at).enumerate() {
            let (id, keyword) = match (first.get(index), rest) {
                (Some(id), _) => (*id, "prefixItems"),
                (None, Some(rest)) => (rest, keyword),
                (None, None) => break,
            };
            self.charge(1);
            valid &= self.apply(id, item, keyword, None);
            mark(&mut marks, index);
            if self.has_ended(valid) {
                return false;
            }
        }
        valid
    }

    fn contains(&mut self, id: Id, least: u64, most: u64, at: At, mut marks: Marks<'_>) -> bool {
        let mut found = 0;
        for (index, item) in self.value.children(at).enumerate() {
            self.charge(1);
            if self.fits(id, item, None) {
                found += 1;
                mark(&mut marks, index);
            }
            if self.exhausted.is_some() {
                return false;
            }
        }
        let words =
            |bound, most| Words::Count { noun: "item", bound, most, more: " of the kind that `contains` describes" };
        self.require(found >= least, at, "contains", words(least, false))
            && self.require(found <= most, at, "maxContains", words(most, true))
    }

    fn all(&mut self, ids: &[Id], at: At, mut marks: Marks<'_>) -> bool {
        let mut valid = true;
        for id in ids {
            valid &= self.apply(*id, at, "allOf", marks.as_deref_mut());
            if self.has_ended(valid) {
                return false;
            }
        }
        valid
    }

    fn any(&mut self, ids: &[Id], at: At, mut marks: Marks<'_>) -> bool {
        let mut fits = false;
        for id in ids {
            fits |= self.fits(*id, at, marks.as_deref_mut());
            if self.exhausted.is_some() || fits && marks.is_none() {
                break;
            }
        }
        self.alternatives(fits, ids, at, "anyOf")
    }

    fn one(&mut self, ids: &[Id], at: At, mut marks: Marks<'_>) -> bool {
        let mut found = 0;
        for id in ids {
            found += u32::from(self.fits(*id, at, marks.as_deref_mut()));
            if self.exhausted.is_some() || found > 1 {
                break;
            }
        }
        if found > 1 {
            let words = Words::Plain("fits more than one of the alternatives: make it fit exactly one");
            return self.require(false, at, "oneOf", words);
        }
        self.alternatives(found == 1, ids, at, "oneOf")
    }

    /// Says that no alternative fits, or what they would be where each is one value.
    fn alternatives(&mut self, fits: bool, ids: &[Id], at: At, keyword: &'static str) -> bool {
        let constant = |id: &Id| {
            let checks = self.schema.subs.get(*id as usize).map_or(&[][..], |sub| &sub.checks);
            checks.iter().find_map(|check| if let Check::Const(at) = check { Some(*at) } else { None })
        };
        let values: Vec<At> = if fits { Vec::new() } else { ids.iter().filter_map(constant).collect() };
        let words = match values.len() == ids.len() {
            true => Words::List(&values),
            false => Words::Plain("fits none of the alternatives: make it fit one"),
        };
        self.require(fits, at, keyword, words)
    }

    fn rest(&mut self, id: Id, at: At, keyword: &'static str, mut marks: Marks<'_>) -> bool {
        let wanted = if keyword == "unevaluatedItems" { Kind::Array } else { Kind::Object };
        if !self.value.is(at, wanted) {
            return true;
        }
        let mut valid = true;
        for (index, child) in self.value.children(at).enumerate() {
            let marked = marks.as_deref().and_then(|marks| marks.get(index)).copied().unwrap_or(false);
            self.charge(1);
            if !marked {
                valid &= self.apply(id, child, keyword, None);
                mark(&mut marks, index);
            }
            if self.has_ended(valid) {
                return false;
            }
        }
        valid
    }

    /// Whether a value is that of a tree.
    fn equal(&mut self, tree: &Tree, a: At, b: At) -> bool {
        let value = self.value;
        self.charge(1);
        if self.exhausted.is_some() || tree.kind(a) != value.kind(b) {
            return false;
        }
        match tree.kind(a) {
            Kind::Null => true,
            Kind::Bool => tree.text(a) == value.text(b),
            Kind::String => {
                self.charge(length(value.text(b)) / 64);
                tree.text(a) == value.text(b)
            }
            Kind::Number => tree.text(a) == value.text(b) || Decimal::parse(tree.text(a)) == self.number(b),
            Kind::Array => {
                let mut others = value.children(b);
                tree.children(a).all(|item| others.next().is_some_and(|other| self.equal(tree, item, other)))
                    && others.next().is_none()
            }
            Kind::Object => {
                tree.children(a).count() == value.children(b).count()
                    && tree.children(a).all(|member| {
                        let other = self.member(b, tree.name(member));
                        other.is_some_and(|other| self.equal(tree, member, other))
                    })
            }
        }
    }

    fn is_unique(&mut self, at: At) -> bool {
        let value = self.value;
        let mut items: Vec<_> = value.children(at).map(|item| (self.digest(item), item)).collect();
        items.sort_unstable();
        for (index, (digest, item)) in items.iter().enumerate() {
            let alike = items.get(index + 1..).unwrap_or_default().iter().take_while(|(other, _)| other == digest);
            for (_, other) in alike {
                if self.equal(value, *item, *other) {
                    return false;
                }
            }
        }
        true
    }

    /// A number that equal values have in common.
    fn digest(&mut self, at: At) -> u64 {
        let value = self.value;
        let kind = value.kind(at);
        self.charge(1 + length(value.text(at)) / 64);
        let mut digest = mixed(0xcbf2_9ce4_8422_2325, words::bit(kind));
        match kind {
            Kind::Null => {}
            Kind::Bool | Kind::String => digest = value.text(at).bytes().fold(digest, mixed),
            Kind::Number => {
                Decimal::parse(value.text(at)).digest(&mut |byte| digest = mixed(digest, byte));
            }
            Kind::Array => {
                for item in value.children(at) {
                    digest = self.digest(item).to_le_bytes().into_iter().fold(digest, mixed);
                }
            }
            Kind::Object => {
                for member in value.children(at) {
                    let name = value.name(member).bytes().fold(self.digest(member), mixed);
                    digest = digest.wrapping_add(name);
                }
            }
        }
        digest
    }
}

fn mixed(digest: u64, byte: u8) -> u64 {
    (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn mark(marks: &mut Marks<'_>, index: usize) {
    if let Some(place) = marks.as_deref_mut().and_then(|marks| marks.get_mut(index)) {
        *place = true;
    }
}

fn merge(marks: &mut [bool], own: &[bool]) {
    for (mark, own) in marks.iter_mut().zip(own) {
        *mark |= own;
    }
}

fn is_integer(text: &str) -> bool {
    !text.contains(['.', 'e', 'E']) || Decimal::parse(text).is_integer()
}

fn length(text: &str) -> u64 {
    text.len() as u64
}
