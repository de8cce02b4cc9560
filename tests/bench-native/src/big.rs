//! Ten megabytes: the rows of a table, and one text.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::measure::{Subject, repeat};

const ROWS: u32 = 84_000;
const TEXT_BYTES: usize = 10_000_000;

/// A row of the table, about 120 bytes of JSON.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Entry {
    pub id: u32,
    pub name: String,
    pub mail: String,
    pub score: f64,
    pub active: bool,
    pub tags: Vec<String>,
}

/// The structured content of a large result.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Table {
    pub rows: Vec<Entry>,
}

/// What the tool `rows` gives.
pub fn table() -> Table {
    let row = |id: u32| Entry {
        id,
        name: format!("Person number {id}"),
        mail: format!("person.{id}@example.com"),
        score: f64::from(id % 1000) / 8.0,
        active: id % 3 == 0,
        tags: vec!["customer".to_owned(), format!("region-{}", id % 16)],
    };
    Table { rows: (0..ROWS).map(row).collect() }
}

/// What the tool `text` gives: prose with line breaks and quotes.
pub fn text() -> String {
    let line = "A \"quoted\" word, and the rest of a line that is as long as lines are.\n";
    line.chars().cycle().take(TEXT_BYTES).collect()
}

/// What the structured result is on the wire, one short text beside it.
pub fn rows_message() -> String {
    let table = serde_json::to_string(&table()).expect("rows are JSON");
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"a table"}}],"structuredContent":{table}}}}}"#
    )
}

/// What the text is on the wire.
pub fn text_message() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": text() }] } }).to_string()
}

/// A bare parse of a message into `serde_json`'s own values.
pub struct Parse(pub String);

impl Subject for Parse {
    fn run(&mut self, time: Duration) -> f64 {
        repeat(time, || {
            let value: Value = serde_json::from_str(&self.0).expect("JSON");
            assert!(std::hint::black_box(&value)["result"].is_object());
        })
    }
}

/// A bare parse of the structured result into its own type.
pub struct ParseTyped(pub String);

impl Subject for ParseTyped {
    fn run(&mut self, time: Duration) -> f64 {
        #[derive(Deserialize)]
        struct Message {
            result: Result,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Result {
            structured_content: Table,
        }
        repeat(time, || {
            let message: Message = serde_json::from_str(&self.0).expect("JSON");
            assert!(is_right(std::hint::black_box(&message.result.structured_content)));
        })
    }
}

/// Whether a table is the one that was asked for, as far as a glance can tell.
pub fn is_right(table: &Table) -> bool {
    let last = table.rows.last().map(|row| row.name.as_str());
    table.rows.len() == ROWS as usize && last == Some(&format!("Person number {}", ROWS - 1))
}

/// The same of values.
pub fn is_right_value(table: &Value) -> bool {
    table["rows"].as_array().is_some_and(|rows| {
        let last = rows.last().map(|row| &row["id"]);
        rows.len() == ROWS as usize && last == Some(&json!(ROWS - 1))
    })
}
