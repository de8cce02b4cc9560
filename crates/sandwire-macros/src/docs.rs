//! Doc comments as descriptions.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments: the lines of a paragraph become one line; lists, headings and code keep theirs.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let comments: Vec<String> = attributes.iter().filter_map(line).collect();
    let mut text = String::new();
    let mut separator = "";
    let mut fenced = false;
    for line in comments.iter().flat_map(|comment| comment.split('\n')) {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        if line.is_empty() && !fenced {
            separator = "\n\n";
            continue;
        }
        let fence = line.trim_start().starts_with("```");
        let alone = fenced || fence || line.starts_with([' ', '-', '*', '#', '|', '>']) || is_numbered(line);
        text.push_str(if alone && separator == " " { "\n" } else { separator });
        text.push_str(line);
        separator = if alone { "\n" } else { " " };
        fenced ^= fence;
    }
    text.trim().to_owned()
}

fn line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(". ")
}
