//! The body of a fuzz target.
#![allow(clippy::panic, clippy::expect_used, reason = "a panic is how a fuzz body reports")]

/// Reads any bytes as front matter: what comes of it is a JSON object.
pub fn front_matter(bytes: &[u8]) {
    let text = ["---\n", &String::from_utf8_lossy(bytes), "\n---\n"].concat();
    if let Ok(object) = crate::front_matter(&text) {
        let again = sandwire_json::Raw::parse(object.as_str()).expect("front matter becomes JSON");
        assert!(crate::equal::equal(&object, &again), "and is equal to itself");
    }
}
