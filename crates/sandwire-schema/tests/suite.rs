//! The official test suite of JSON Schema, for the two versions that are supported.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use sandwire_json::{Raw, Reader};
use sandwire_schema::Compiler;

/// Groups of tests whose schemas are refused, by the reason; the tests of the npm package read it, too.
const REFUSED: &str = include_str!("refused.json");

/// The optional files that are claimed.
const OPTIONAL: &[&str] = &[
    "anchor.json",
    "bignum.json",
    "dependencies-compatibility.json",
    "dynamicRef.json",
    "ecmascript-regex.json",
    "float-overflow.json",
    "id.json",
    "no-schema.json",
    "non-bmp-regex.json",
    "refOfUnknownKeyword.json",
    "unknownKeyword.json",
];

/// The formats that are checked where that is asked for.
const FORMATS: &[&str] = &["date.json", "date-time.json", "email.json", "uri.json"];

fn tests() -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("SANDWIRE_CACHE").or_else(|| {
        let home = || folder("HOME").map(|home| home.join(".cache"));
        let cache = folder("XDG_CACHE_HOME").or_else(|| folder("LOCALAPPDATA")).or_else(home);
        cache.map(|cache| cache.join("sandwire"))
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tests = root.join(cache.unwrap_or_default()).join("schema-tests/jsonschema-4.26.0/json/tests");
    assert!(tests.is_dir(), "the test suite of JSON Schema is not installed: run `cargo xtask setup`");
    tests
}

struct Tally {
    expected: serde_json::Value,
    passed: usize,
    refused: usize,
    failed: Vec<String>,
}

impl Tally {
    fn file(&mut self, path: &Path, name: &str, dialect: &str, formats: bool) {
        let text = std::fs::read_to_string(path).unwrap();
        Reader::new(&text)
            .array(&mut |r| {
                let group = Raw::from_valid(r.raw()?);
                self.group(&group, name, dialect, formats);
                Ok(())
            })
            .unwrap();
    }

    /// The keyword for which the schema of a group is refused.
    fn refused(&self, file: &str, group: &str) -> Option<String> {
        let names = [format!("{file}: *"), format!("{file}: {group}")];
        let lists = |reason: &&serde_json::Value| {
            let groups = reason["groups"].as_array().unwrap();
            groups.iter().any(|known| names.iter().any(|name| known == name))
        };
        let reason = self.expected.as_object().unwrap().values().find(lists)?;
        Some(reason["keyword"].as_str().unwrap().to_owned())
    }

    fn group(&mut self, group: &Raw, file: &str, dialect: &str, formats: bool) {
        let about = string(group, "description");
        let compiled = Compiler::new().formats(formats).compile(&in_dialect(&group.get("schema").unwrap(), dialect));
        let refused = self.refused(file, &about);
        let schema = match (compiled, refused) {
            (Ok(schema), None) => schema,
            (Err(error), Some(keyword)) if error.keyword() == keyword => {
                self.refused += 1;
                return;
            }
            (Ok(_), Some(_)) => {
                self.failed.push(format!("{file}: {about}: is not refused any more"));
                return;
            }
            (Err(error), _) => {
                self.failed.push(format!("{file}: {about}: {error}"));
                return;
            }
        };
        let tests = group.get("tests").unwrap();
        let mut each = |r: &mut Reader<'_>| {
            let test = Raw::from_valid(r.raw()?);
            let verdict = schema.validate(test.get("data").unwrap().as_str());
            if verdict.is_ok() == (test.get("valid").unwrap().as_str() == "true") {
                self.passed += 1;
            } else {
                let case = string(&test, "description");
                self.failed.push(format!("{file}: {about} / {case}: {verdict:?}"));
            }
            Ok(())
        };
        tests.reader().array(&mut each).unwrap();
    }
}

/// A schema that says what it is written in, which is the dialect of its folder if it names none.
fn in_dialect(schema: &Raw, dialect: &str) -> String {
    match schema.as_str().strip_prefix('{') {
        Some(members) if schema.get("$schema").is_none() => {
            let comma = if members.trim_start().starts_with('}') { "" } else { "," };
            format!("{{\"$schema\":\"{dialect}\"{comma}{members}")
        }
        _ => schema.to_string(),
    }
}

fn string(object: &Raw, key: &str) -> String {
    object.get(key).unwrap().reader().string().unwrap().into_owned()
}

#[test]
fn the_official_tests_pass() {
    let expected = serde_json::from_str(REFUSED).unwrap();
    let mut tally = Tally { expected, passed: 0, refused: 0, failed: Vec::new() };
    for (version, dialect) in [
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
    ] {
        let folder = tests().join(version);
        let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files.iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
            let name = path.file_name().unwrap().to_str().unwrap();
            tally.file(path, &format!("{version}/{name}"), dialect, false);
        }
        for name in OPTIONAL.iter().filter(|name| folder.join("optional").join(name).exists()) {
            let path = folder.join("optional").join(name);
            tally.file(&path, &format!("{version}/optional/{name}"), dialect, false);
        }
        for name in FORMATS {
            let path = folder.join("optional/format").join(name);
            tally.file(&path, &format!("{version}/optional/format/{name}"), dialect, true);
        }
    }
    println!("{} of the official tests pass; {} groups need what is not fetched", tally.passed, tally.refused);
    assert!(tally.failed.is_empty(), "{} fail:\n{}", tally.failed.len(), tally.failed.join("\n"));
    assert!(tally.passed > 2500, "the suite has all of its tests");
}
