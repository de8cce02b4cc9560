use super::{family::Farewell, process::Process, restart::Restart, stderr::Hook};
use sandwire_proto::{Limits, TransportError, TransportErrorKind};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// What a child's environment has without being asked for.
#[cfg(unix)]
const INHERITED: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];
#[cfg(windows)]
const INHERITED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// A server that is a program: which, and how to start it.
///
/// # Environment
///
/// A server of somebody else's is not shown this process's secrets: of the environment it inherits `HOME`, `LANG`, `LC_ALL`,
/// `LC_CTYPE`, `LC_MESSAGES`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR` and `USER`; on Windows `APPDATA`, `COMSPEC`,
/// `HOMEDRIVE`, `HOMEPATH`, `LOCALAPPDATA`, `PATH`, `PATHEXT`, `PROCESSOR_ARCHITECTURE`, `PROGRAMFILES`, `SYSTEMDRIVE`,
/// `SYSTEMROOT`, `TEMP`, `TMP`, `USERNAME`, `USERPROFILE` and `WINDIR`. [`env`](Self::env) sets more,
/// [`inherit`](Self::inherit) passes on more, and [`inherit_all`](Self::inherit_all) everything. On Linux
/// `SANDWIRE_CHILD` is set; see [the module](super) for what it does.
///
/// # Standard error
///
/// It is read whenever the connection is driven, and while the server is being ended, so that no server blocks on it, and
/// never kept but for the last lines, at most 20 and 8 kB, which errors quote. [`stderr`](Self::stderr) sets a hook that sees each line; it is also the way to pass them on:
/// `.stderr(|line| eprintln!("{line}"))`.
#[derive(Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    inherited: Vec<OsString>,
    inherits_all: bool,
    cwd: Option<PathBuf>,
    pub(super) stderr: Option<Hook>,
    pub(super) restart: Restart,
    pub(super) farewell: Farewell,
}

impl Command {
    /// A command that runs `program`: a path, or a name that is looked up in `PATH`.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherited: Vec::new(),
            inherits_all: false,
            cwd: None,
            stderr: None,
            restart: Restart::Never,
            farewell: Farewell::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Passes on a variable of this process's environment, if it is set when the program is started.
    #[must_use]
    pub fn inherit(mut self, name: impl Into<OsString>) -> Self {
        self.inherited.push(name.into());
        self
    }

    /// Passes on this process's whole environment, with every secret in it.
    #[must_use]
    pub fn inherit_all(mut self) -> Self {
        self.inherits_all = true;
        self
    }

    /// Runs the program in another directory than this process's.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// Shows each line on the program's standard error to `hook`. It is called while the connection is driven, and must
    /// not block. Of lines longer than 8 kB it sees the start.
    #[must_use]
    pub fn stderr(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Some(Arc::new(hook));
        self
    }

    /// What happens when the server exits without being asked to. The default is [`Restart::Never`].
    #[must_use]
    pub fn restart(mut self, policy: Restart) -> Self {
        self.restart = policy;
        self
    }

    /// How long the server has to exit after its standard input was closed, and then after it was terminated, before it
    /// is killed. Two seconds each, unless said otherwise.
    #[must_use]
    pub fn shutdown_waits(mut self, input_closed: Duration, terminated: Duration) -> Self {
        self.farewell = Farewell { input_closed, terminated, ..self.farewell };
        self
    }

    /// On Linux, lets processes live on that the server started in sessions of their own, such as a browser for its user.
    /// Otherwise they end with it; see [the module](super).
    #[must_use]
    pub fn spare_detached(mut self) -> Self {
        self.farewell.spares_detached = true;
        self
    }

    /// Starts the program.
    ///
    /// # Errors
    ///
    /// Of kind [`Unreachable`](TransportErrorKind::Unreachable): there is no such program or directory, or it cannot be
    /// run. The message says which, and what to do.
    pub fn spawn(self, limits: &Limits) -> Result<Process, TransportError> {
        if let Some(message) = self.mistake() {
            return Err(TransportError::new(TransportErrorKind::Unreachable, message));
        }
        Process::start(self, limits.max_message_bytes)
    }

    /// What no system can be told.
    fn mistake(&self) -> Option<String> {
        let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
        let odd = |name: &OsStr| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
        if self.program.is_empty() {
            return Some("the command names no program; name one".to_owned());
        }
        if let Some(name) = self.env.keys().find(|name| odd(name)) {
            let name = name.display();
            return Some(format!(
                "{name:?} is no name of an environment variable; take one that is not empty and has no `=`"
            ));
        }
        let texts = self.args.iter().chain(self.env.keys()).chain(self.env.values()).map(OsString::as_os_str);
        let texts = texts.chain([self.program.as_os_str()]).chain(self.cwd.as_deref().map(Path::as_os_str));
        texts.into_iter().any(has_nul).then(|| {
            "the program, its directory, an argument or a variable of its environment has a NUL byte; remove it"
                .to_owned()
        })
    }

    /// The command as the system is told it, but for pipes and groups.
    pub(super) fn prepare(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        if !self.inherits_all {
            command.env_clear();
            let names = INHERITED.iter().map(OsStr::new).chain(self.inherited.iter().map(OsString::as_os_str));
            command.envs(names.filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.envs(&self.env);
        if let Some(directory) = &self.cwd {
            command.current_dir(directory);
        }
        command
    }

    /// Why the program could not be started.
    pub(super) fn unstartable(&self, error: io::Error) -> TransportError {
        let program = self.program.display();
        let has_path = Path::new(&self.program).components().count() > 1;
        let message = match (&self.cwd, error.kind()) {
            (Some(directory), _) if !directory.is_dir() => {
                format!(
                    "the server's working directory {} is not there or is no directory; create it or name another",
                    directory.display()
                )
            }
            _ if has_path && Path::new(&self.program).is_dir() => {
                format!("{program} is a directory; name a program, in it perhaps")
            }
            (_, io::ErrorKind::NotFound) if self.program.as_encoded_bytes().contains(&b' ') => {
                format!(
                    "there is no program {program:?}; if these are a program and its arguments, name them one by one"
                )
            }
            (_, io::ErrorKind::NotFound) if cfg!(windows) && !has_path => {
                format!(
                    "the program {program} is not in PATH; install it, or name it with its extension ({program}.cmd)"
                )
            }
            (_, io::ErrorKind::NotFound) if has_path => {
                format!("there is no program {program}, or the interpreter it names is missing; check its path")
            }
            (_, io::ErrorKind::NotFound) => {
                format!("the program {program} is not in PATH; install it, or name it by its full path")
            }
            (_, io::ErrorKind::PermissionDenied) => {
                format!("the program {program} may not be run; make it executable, or name the program that runs it")
            }
            _ => format!(
                "the program {program} cannot be started ({error}); check that it is a program for this system, and that \
                 this process may still open files and start processes"
            ),
        };
        TransportError::new(TransportErrorKind::Unreachable, message).with_source(Arc::new(error))
    }
}

impl fmt::Debug for Command {
    /// Names the variables of the environment, whose values may be secrets, only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .field("restart", &self.restart)
            .finish_non_exhaustive()
    }
}
