//! The list of ids against the tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const LIST: &str = include_str!("../cases.txt");
/// How many faults were reported.
const REPORTED: usize = 105;
/// The areas that wait for work that is not done, and which.
const PENDING: [(&str, &str); 2] = [("oauth", "authorization"), ("wasi", "components")];

/// How a case stands.
enum Standing {
    Test,
    Elsewhere,
    Pending(&'static str),
}

struct Case {
    area: &'static str,
    standing: Standing,
    /// The files that name it beside this crate, from the repository's root on.
    files: Vec<&'static str>,
}

fn lines() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.starts_with('#'))
}

fn cases() -> BTreeMap<&'static str, Case> {
    let read = |line: &'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        let (id, area, standing, files) = match &words[..] {
            [id, area, "test", files @ ..] => (*id, *area, Standing::Test, files),
            [id, area, "elsewhere", files @ ..] if !files.is_empty() => (*id, *area, Standing::Elsewhere, files),
            [id, area, "pending", work] => (*id, *area, Standing::Pending(work), &[][..]),
            _ => panic!("no case: {line}"),
        };
        (id, Case { area, standing, files: files.to_vec() })
    };
    lines().map(read).collect()
}

/// The ids of the tests in this crate: `B07` of `fn b07_…`.
fn tests() -> BTreeSet<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(sources).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file());
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let names = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.trim_start().strip_prefix("fn b"));
    let ids = names.filter_map(|name| Some(name.split_once('_')?.0));
    ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit())).map(|id| format!("B{id}")).collect()
}

#[test]
fn every_case_is_listed_once() {
    assert_eq!((lines().count(), cases().len()), (REPORTED, REPORTED));
}

#[test]
fn every_case_has_its_test_and_every_test_its_case() {
    let (cases, tests) = (cases(), tests());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (id, Case { area, standing, files }) in &cases {
        let waits_for = PENDING.iter().find(|(pending, _)| pending == area).map(|(_, work)| *work);
        let (work, has_test) = match standing {
            Standing::Test => (None, true),
            Standing::Elsewhere => (None, false),
            Standing::Pending(work) => (Some(*work), false),
        };
        assert_eq!(work, waits_for, "{id}, of the area {area}, waits for");
        assert_eq!(tests.contains(*id), has_test, "whether {id} has a test here");
        for file in files {
            let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(text.contains(id), "{file} does not name {id}");
        }
    }
    for test in tests {
        assert!(cases.contains_key(&*test), "{test} is no case");
    }
}
