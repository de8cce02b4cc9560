//! The list of ids against the tests.

use std::{collections::BTreeMap, fs, path::Path};

const LIST: &str = include_str!("../cases.txt");
/// How many faults were reported.
const REPORTED: usize = 105;
/// The areas that wait for work that is not done, and which.
const PENDING: [(&str, &str); 2] = [("oauth", "authorization"), ("wasi", "components")];

/// How a case stands.
enum Standing<'a> {
    Test,
    Smoke(&'a str),
    Pending(&'a str),
}

fn cases() -> BTreeMap<&'static str, (&'static str, Standing<'static>)> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    let cases = lines.map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let (id, area, standing) = match words[..] {
            [id, area, "test"] => (id, area, Standing::Test),
            [id, area, "smoke", file] => (id, area, Standing::Smoke(file)),
            [id, area, "pending", work] => (id, area, Standing::Pending(work)),
            _ => panic!("no case: {line}"),
        };
        (id, (area, standing))
    });
    cases.collect()
}

/// The ids of the tests in this crate: `b07` of `fn b07_…`.
fn tests() -> Vec<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(sources).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file());
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let names = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.trim_start().strip_prefix("fn b"));
    let ids = names.filter_map(|name| Some(name.split_once('_')?.0));
    ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit())).map(|id| format!("B{id}")).collect()
}

#[test]
fn every_case_is_listed_once() {
    assert_eq!(LIST.lines().filter(|line| !line.starts_with('#')).count(), REPORTED);
    assert_eq!(cases().len(), REPORTED);
}

#[test]
fn every_case_has_its_test_and_every_test_its_case() {
    let (cases, tests) = (cases(), tests());
    for (id, (area, standing)) in &cases {
        let waits_for = PENDING.iter().find(|(pending, _)| pending == area).map(|(_, work)| *work);
        match standing {
            Standing::Pending("tests") => {}
            Standing::Pending(work) => assert_eq!(Some(*work), waits_for, "{id}"),
            _ => assert!(waits_for.is_none(), "{id} waits for {waits_for:?}"),
        }
        match standing {
            Standing::Test => assert!(tests.contains(&(*id).to_owned()), "{id} has no test"),
            Standing::Smoke(file) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
                let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                assert!(text.contains(id), "{file} does not name {id}");
            }
            Standing::Pending(_) => assert!(!tests.contains(&(*id).to_owned()), "{id} has a test and waits"),
        }
    }
    for test in tests {
        assert!(cases.contains_key(&*test), "{test} is no case");
    }
}
