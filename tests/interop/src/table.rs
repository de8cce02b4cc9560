//! The tables in `README.md`.

use crate::AREAS;
use crate::row::{Outcomes, Row};

const BEGIN: &str = "<!-- made by the run -->\n";
const END: &str = "<!-- until here -->\n";

/// Both tables.
pub(crate) fn text(rows: &[Row], outcomes: &[Outcomes]) -> String {
    let mut text = String::new();
    for (title, with_itself) in [("Sandwire with each peer", false), ("Each peer with itself", true)] {
        text += &format!("\n## {title}\n\n| client | server | over | version | {} |\n", AREAS.join(" | "));
        text += &format!("|{}\n", "---|".repeat(4 + AREAS.len()));
        let rows = rows.iter().zip(outcomes).filter(|(row, _)| row.is_with_itself() == with_itself);
        for (Row { client, server, transport, version }, outcomes) in rows {
            let cells = outcomes.iter().map(|outcome| match outcome {
                Some(Ok(())) => "✓",
                Some(Err(_)) => "✗",
                None => "·",
            });
            let cells = cells.collect::<Vec<_>>().join(" | ");
            let (client, server) = (client.name(), server.name());
            text += &format!("| {client} | {server} | {transport} | {version} | {cells} |\n");
        }
    }
    text
}

/// The file with these tables in place of those that it has.
pub(crate) fn put(file: &str, tables: &str) -> String {
    let (before, rest) = file.split_once(BEGIN).unwrap_or((file, ""));
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    format!("{before}{BEGIN}{tables}\n{END}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Who;

    #[test]
    fn a_cell_says_whether_it_passed_failed_or_cannot_be() {
        let row = Row { client: Who::Ours, server: Who::Rmcp, transport: "HTTP", version: "2025-03-26" };
        let mut outcomes = vec![Some(Ok(())); AREAS.len()];
        outcomes[1] = Some(Err("no list".to_owned()));
        outcomes[7] = None;
        let itself = Row { client: Who::Rmcp, ..row };
        let text = text(&[row, itself], &[outcomes, vec![Some(Ok(())); AREAS.len()]]);
        let (ours, theirs) = text.split_once("## Each peer with itself").unwrap();
        assert!(
            ours.contains("| Sandwire | rmcp 3.11 | HTTP | 2025-03-26 | ✓ | ✗ | ✓ | ✓ | ✓ | ✓ | ✓ | · | ✓ | ✓ |\n")
        );
        assert!(theirs.contains("| rmcp 3.11 | rmcp 3.11 | HTTP |") && !theirs.contains("| Sandwire |"));
    }

    #[test]
    fn what_stands_around_the_tables_stays() {
        let file = put(&format!("before\n{BEGIN}old\n{END}after\n"), "new\n");
        assert_eq!(file, format!("before\n{BEGIN}new\n\n{END}after\n"));
        assert_eq!(put(&file, "new\n"), file);
    }
}
