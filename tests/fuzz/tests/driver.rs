//! The driver finds bugs that were planted, leaves the input behind, and replays it.

use std::process::{Command, Output};

// Its counters' entry point is linked into everything that is compiled with them.
use sandwire_fuzz as _;

fn drive(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sandwire-fuzz")).args(arguments).output().expect("the driver starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn assert_found(target: &str, seconds: &str) {
    let found = drive(&["--seconds", seconds, "--seed", "7", target]);
    let text = said(&found);
    assert!(!found.status.success(), "{text}");
    assert!(text.contains(&format!("fuzz {target} ... FAILED")), "{text}");
    assert!(text.ends_with("0 passed, 1 failed\n"), "{text}");

    let replay = text.split("--replay ").nth(1).expect("it says how to replay");
    let file = replay.split_whitespace().next().expect("it names a file");
    let again = drive(&["--replay", file, target]);
    assert!(!again.status.success(), "{file} crashes again");
}

#[test]
fn a_panic_behind_four_comparisons() {
    assert_found("planted_maze", "20");
}

#[test]
fn a_stack_overflow_in_deep_nesting() {
    assert_found("planted_nesting", "20");
}

#[test]
fn a_panic_at_a_line_end() {
    assert_found("planted_line", "20");
}

#[test]
fn a_loop_without_end() {
    assert_found("planted_hang", "20");
}

#[test]
fn nothing_where_nothing_is() {
    let output = drive(&["--seconds", "1", "planted_nothing"]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("fuzz planted_nothing ... ok (seed 1, "), "{text}");
    assert!(text.ends_with("1 passed, 0 failed\n"), "{text}");
}

#[test]
fn every_target_has_a_corpus_and_a_libfuzzer_twin() {
    let names = said(&drive(&["--list"]));
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in names.lines() {
        let corpus = here.join("corpus").join(name);
        assert!(corpus.is_dir(), "{} is missing", corpus.display());
        let twin = here.join(format!("cargo-fuzz/fuzz_targets/{name}.rs"));
        assert!(twin.is_file(), "{} is missing", twin.display());
    }
}
