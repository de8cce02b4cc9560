//! Which program is started, and with what.

use crate::scene::{Scene, next_error, next_line, spawn};
use sandwire_native::stdio::Command;
use sandwire_proto::{Limits, TransportErrorKind};

fn refusal(command: Command) -> String {
    let error = command.spawn(&Limits::default()).unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::Unreachable);
    error.message().to_owned()
}

#[test]
fn what_cannot_be_started_says_what_to_do() {
    assert_eq!(
        refusal(Command::new("no-such-program-here")),
        "the program no-such-program-here is not in PATH; install it, or name it by its full path"
    );
    assert_eq!(
        refusal(Command::new("/no/such/program")),
        "there is no program /no/such/program, or the interpreter it names is missing; check its path"
    );
    assert_eq!(
        refusal(Command::new("cat").cwd("/no/such/directory")),
        "the server's working directory /no/such/directory is not there or is no directory; create it or name another"
    );
    assert_eq!(
        refusal(Command::new("/etc/passwd")),
        "the program /etc/passwd may not be run; make it executable, or name the program that runs it"
    );
    assert_eq!(refusal(Command::new("/usr")), "/usr is a directory; name a program, in it perhaps");
    assert_eq!(
        refusal(Command::new("no-such-program --verbose")),
        "there is no program \"no-such-program --verbose\"; if these are a program and its arguments, name them one by one"
    );
    assert_eq!(refusal(Command::new("")), "the command names no program; name one");
}

#[test]
fn what_no_system_can_be_told_is_refused() {
    for name in ["", "A=B"] {
        let refused = format!("{name:?} is no name of an environment variable");
        assert!(refusal(Command::new("cat").env(name, "s3cret")).starts_with(&refused));
    }
    let nul = [
        Command::new("c\0at"),
        Command::new("cat").arg("a\0"),
        Command::new("cat").env("A", "\0"),
        Command::new("cat").env("\0", "a"),
        Command::new("cat").cwd("/\0"),
    ];
    for command in nul {
        assert!(refusal(command).contains("has a NUL byte; remove it"));
    }
}

#[test]
fn only_what_is_harmless_is_inherited() {
    let scene = Scene::new();
    let list = "env | cut -d = -f 1 | grep -v '^_$\\|^PWD$\\|^SHLVL$\\|^OLDPWD$' | sort | tr '\\n' ' '";
    let mut port = spawn(scene.sh(list));
    let names = next_line(&mut port);
    let harmless = [
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LOGNAME",
        "PATH",
        "SANDWIRE_CHILD",
        "SANDWIRE_TEST",
        "SHELL",
        "TERM",
        "TMPDIR",
        "USER",
    ];
    assert!(names.split(' ').all(|name| name.is_empty() || harmless.contains(&name)), "{names}");
    assert!(names.contains("PATH ") && std::env::var_os("CARGO_PKG_NAME").is_some());

    let script = "echo $CARGO_PKG_NAME, $CARGO_PKG_AUTHORS, $OWN, $HOME";
    let show = |command: Command| next_line(&mut spawn(command.env("OWN", "own").env("HOME", "/else")));
    assert_eq!(show(scene.sh(script)), ", , own, /else");
    assert_eq!(show(scene.sh(script).inherit("CARGO_PKG_NAME").inherit("NOT_SET")), "sandwire-native, , own, /else");
    assert!(show(scene.sh("env").inherit_all()).contains('='));
    let all = "echo $CARGO_PKG_NAME $CARGO_MANIFEST_DIR";
    assert_eq!(show(scene.sh(all).inherit_all()), format!("sandwire-native {}", env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn the_directory_and_the_arguments_are_as_told() {
    let scene = Scene::new();
    let mut port = spawn(scene.sh("pwd; echo \"$0 $1\"").arg("a b").args(["c"]).cwd("/usr"));
    assert_eq!([next_line(&mut port), next_line(&mut port)], ["/usr", "a b c"]);
    next_error(&mut port);
}

#[test]
fn what_is_shown_of_a_command_has_no_secrets() {
    let shown = format!("{:?}", Command::new("server").arg("--fast").env("TOKEN", "s3cret"));
    assert!(shown.contains("server") && shown.contains("--fast") && shown.contains("TOKEN"));
    assert!(!shown.contains("s3cret"));
}
