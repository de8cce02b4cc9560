//! One JSON text, taken apart once.

use sandwire_json::{Error, ErrorKind, Kind, Reader};

/// A value of a [`Tree`]: its place among all values, counted in the order of the text.
pub(crate) type At = u32;

/// The whole of the text.
pub(crate) const ROOT: At = 0;

/// A JSON text and where each of its values is.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The text, and after it the strings that have escapes, without them.
    text: String,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    /// The text of the value; of a string, what it says.
    value: Span,
    /// The name of the member that this is the value of.
    name: Span,
    /// The value after everything inside this one.
    end: At,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Tree {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        // Decoded strings may double it.
        if u32::try_from(text.len().saturating_mul(2)).is_err() {
            return Err(Error::new(ErrorKind::Range, 0, "the text is too long"));
        }
        let mut tree = Self { text: text.to_owned(), nodes: Vec::new() };
        let mut r = Reader::new(text);
        tree.read(&mut r, Span::default())?;
        r.end()?;
        Ok(tree)
    }

    fn read(&mut self, r: &mut Reader<'_>, name: Span) -> Result<(), Error> {
        let kind = r.peek()?;
        let start = r.offset();
        let at = self.nodes.len();
        self.nodes.push(Node { kind, value: Span::default(), name, end: 0 });
        let mut value = None;
        match kind {
            Kind::Object => r.object(&mut |name, r| {
                let name = self.keep(name, r.member() + 1);
                self.read(r, name)
            })?,
            Kind::Array => r.array(&mut |r| self.read(r, Span::default()))?,
            Kind::String => value = Some(self.keep(&r.string()?, start + 1)),
            Kind::Number | Kind::Bool | Kind::Null => r.skip()?,
        }
        let end = place(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(at) {
            node.value = value.unwrap_or(Span { start: place(start), end: place(r.offset()) });
            node.end = end;
        }
        Ok(())
    }

    /// Where a string is, which stands at `start` unless it has escapes.
    fn keep(&mut self, string: &str, start: usize) -> Span {
        let stands = self.text.get(start..start + string.len()) == Some(string);
        let start = if stands { start } else { self.text.len() };
        if !stands {
            self.text.push_str(string);
        }
        Span { start: place(start), end: place(start + string.len()) }
    }

    fn node(&self, at: At) -> Node {
        let nothing = Node { kind: Kind::Null, value: Span::default(), name: Span::default(), end: at };
        self.nodes.get(at as usize).copied().unwrap_or(nothing)
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn kind(&self, at: At) -> Kind {
        self.node(at).kind
    }

    /// The text of a value; of a string, what it says.
    pub(crate) fn text(&self, at: At) -> &str {
        self.slice(self.node(at).value)
    }

    /// The name of the member that this is the value of.
    pub(crate) fn name(&self, at: At) -> &str {
        self.slice(self.node(at).name)
    }

    pub(crate) fn is(&self, at: At, kind: Kind) -> bool {
        self.kind(at) == kind
    }

    /// The items of an array, or the values of an object's members.
    pub(crate) fn children(&self, at: At) -> Children<'_> {
        Children { tree: self, next: at + 1, end: self.node(at).end }
    }

    /// The value of an object's first member of that name.
    pub(crate) fn get(&self, at: At, name: &str) -> Option<At> {
        let mut children = self.children(at);
        if self.is(at, Kind::Object) { children.find(|child| self.name(*child) == name) } else { None }
    }

    /// The text of the member, where it is a string.
    pub(crate) fn string(&self, at: At, name: &str) -> Option<&str> {
        self.get(at, name).filter(|member| self.is(*member, Kind::String)).map(|member| self.text(member))
    }

    /// Adds the JSON pointer of a value to `path`.
    pub(crate) fn pointer(&self, wanted: At, path: &mut String) {
        let mut at = ROOT;
        while at != wanted {
            let Some((index, child)) = self.children(at).enumerate().find(|(_, child)| wanted < self.node(*child).end)
            else {
                return;
            };
            path.push('/');
            if self.is(at, Kind::Object) {
                for character in self.name(child).chars() {
                    match character {
                        '~' => path.push_str("~0"),
                        '/' => path.push_str("~1"),
                        other => path.push(other),
                    }
                }
            } else {
                push_number(path, index as u64);
            }
            at = child;
        }
    }
}

/// The children of a value.
#[derive(Clone, Debug)]
pub(crate) struct Children<'a> {
    tree: &'a Tree,
    next: At,
    end: At,
}

impl Iterator for Children<'_> {
    type Item = At;

    fn next(&mut self) -> Option<At> {
        let at = self.next;
        (at < self.end).then(|| {
            self.next = self.tree.node(at).end;
            at
        })
    }
}

/// Adds a number's digits.
pub(crate) fn push_number(text: &mut String, number: u64) {
    if number > 9 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_where_it_stands() {
        let tree = Tree::parse(r#" {"a": [1, "x\n", {}], "b\/c": {"d~": null}} "#).unwrap();
        let a = tree.get(ROOT, "a").unwrap();
        assert_eq!(tree.text(a), r#"[1, "x\n", {}]"#);
        let items: Vec<_> = tree.children(a).map(|at| tree.text(at)).collect();
        assert_eq!(items, ["1", "x\n", "{}"]);
        let deep = tree.get(tree.get(ROOT, "b/c").unwrap(), "d~").unwrap();
        let mut path = String::new();
        tree.pointer(deep, &mut path);
        assert_eq!(path, "/b~1c/d~0");
        let mut path = String::new();
        tree.pointer(tree.children(a).nth(2).unwrap(), &mut path);
        assert_eq!(path, "/a/2");
        assert!(Tree::parse("[1,]").is_err());
        assert!(Tree::parse("1 2").is_err());
    }
}
