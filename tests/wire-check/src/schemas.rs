//! The official schemas: found once, compiled once, and what they say about methods.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use crate::{Side, exceptions};

/// The versions, oldest first.
pub const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_LEGACY, MODERN];
pub(crate) const NEWEST_LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// All of them.
#[derive(Debug)]
pub(crate) struct Schemas {
    versions: Vec<Schema>,
    /// The draft of the tasks extension, which goes with [`MODERN`].
    tasks: Option<Schema>,
}

/// The schema of one version.
pub(crate) struct Schema {
    pub(crate) version: &'static str,
    document: Value,
    /// What the schema calls the member with the definitions.
    definitions: &'static str,
    /// The definitions of requests and notifications by their method.
    methods: HashMap<String, String>,
    /// The definitions of errors by their code.
    errors: HashMap<i64, String>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Schemas {
    pub(crate) fn get() -> Option<&'static Self> {
        static SCHEMAS: OnceLock<Option<Schemas>> = OnceLock::new();
        let found = SCHEMAS.get_or_init(|| directory().and_then(|spec| Self::load(&spec))).as_ref();
        if found.is_none() {
            eprintln!(
                "skipped: no official schemas; set SANDWIRE_SPEC to a folder with `schema/` of the \
                 modelcontextprotocol repository in it"
            );
        }
        found
    }

    fn load(spec: &Path) -> Option<Self> {
        let version = |version: &&'static str| Schema::load(version, &spec.join("schema").join(version), |_| true);
        let versions: Vec<_> = VERSIONS.iter().map(version).collect::<Option<_>>()?;
        // What an extension adds is made of parts; the rest are copies from the core.
        let is_added = |definition: &Value| !parts(definition).is_empty();
        Some(Self { versions, tasks: Schema::load(MODERN, &spec.join("ext-tasks-draft"), is_added) })
    }

    pub(crate) fn of(&self, version: &str) -> Option<&Schema> {
        self.versions.iter().find(|schema| schema.version == version)
    }

    pub(crate) fn request(&self, schema: &Schema, from: Side, method: &str, message: &Value) -> Result<(), String> {
        let message = exceptions::fractions(message);
        schema.holds("JSONRPCRequest", &message)?;
        if schema.version == MODERN {
            schema.holds("RequestParams", message.get("params").unwrap_or(&Value::Null))?;
        }
        self.call(schema, from, method, "Request", &message)
    }

    pub(crate) fn notification(
        &self,
        schema: &Schema,
        from: Side,
        method: &str,
        message: &Value,
    ) -> Result<(), String> {
        schema.holds("JSONRPCNotification", message)?;
        self.call(schema, from, method, "Notification", message)
    }

    /// A request or a notification by the definition of its method.
    fn call(&self, schema: &Schema, from: Side, method: &str, kind: &str, message: &Value) -> Result<(), String> {
        if let Some(tasks) = self.tasks_of(schema)
            && let Some(definition) = tasks.methods.get(method)
        {
            return match (kind, from) {
                ("Request", Side::Client) | ("Notification", Side::Server) => tasks.holds(definition, message),
                _ => Err(format!("{method} is not for {from:?} to say")),
            };
        }
        match schema.methods.get(method) {
            Some(definition) if schema.may_say(from, kind, definition) => schema.holds(definition, message),
            Some(_) => Err(format!("{method} is no {kind} that the {from:?} may say")),
            // A method of no version is somebody's own.
            None if self.versions.iter().any(|schema| schema.methods.contains_key(method)) => {
                Err(format!("this version has no {method}"))
            }
            None => Ok(()),
        }
    }

    /// A result by the request that it answers.
    pub(crate) fn result(&self, schema: &Schema, method: &str, as_task: bool, message: &Value) -> Result<(), String> {
        schema.holds(schema.first_of(&["JSONRPCResultResponse", "JSONRPCResponse"]), message)?;
        let mut result = message.get("result").cloned().unwrap_or_default();
        if method == "elicitation/create" {
            exceptions::fractions_of_answer(&mut result);
        }
        let tasks = self.tasks_of(schema);
        let kind = result.get("resultType").and_then(Value::as_str).filter(|_| schema.version == MODERN);
        match (kind, tasks) {
            (Some("input_required"), _) => return schema.holds("InputRequiredResult", &result),
            (Some("task"), Some(tasks)) => return tasks.holds("CreateTaskResult", &result),
            (Some("complete") | None, _) => {}
            (Some(_), _) => return schema.holds("Result", &result),
        }
        if as_task && schema.has("CreateTaskResult") && result.get("task").is_some() {
            return schema.holds("CreateTaskResult", &result);
        }
        if let Some(tasks) = tasks
            && let Some(definition) = tasks.methods.get(method)
        {
            return tasks.holds(&definition.replace("Request", "Result"), &result);
        }
        let definition = schema.methods.get(method).map(|definition| definition.replace("Request", "Result"));
        match definition {
            Some(definition) if schema.has(&definition) => schema.holds(&definition, &result),
            Some(_) => schema.holds("EmptyResult", &result),
            None => schema.holds("Result", &result),
        }
    }

    fn tasks_of(&self, schema: &Schema) -> Option<&Schema> {
        self.tasks.as_ref().filter(|_| schema.version == MODERN)
    }
}

impl Schema {
    fn load(version: &'static str, folder: &Path, counts: fn(&Value) -> bool) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join("schema.json")).ok()?;
        let document: Value = serde_json::from_str(&text).ok()?;
        let definitions = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
        let all = document.get(definitions)?.as_object()?;
        let calls = all.iter().filter(|(name, definition)| is_call(name) && counts(definition));
        let methods = calls.filter_map(|(name, definition)| {
            let mut all = parts(definition).iter().chain([definition]);
            let method = all.find_map(|part| part.pointer("/properties/method/const"))?;
            Some((method.as_str()?.to_owned(), name.clone()))
        });
        let errors = all.iter().filter_map(|(name, definition)| Some((code(definition)?, name.clone())));
        Some(Self {
            version,
            definitions,
            methods: methods.collect(),
            errors: errors.collect(),
            validators: Mutex::default(),
            document,
        })
    }

    fn has(&self, definition: &str) -> bool {
        self.document[self.definitions].get(definition).is_some()
    }

    fn first_of<'a>(&self, names: &[&'a str]) -> &'a str {
        names.iter().find(|name| self.has(name)).copied().unwrap_or_default()
    }

    /// Whether a call is in the schema's list of those that one side says.
    fn may_say(&self, from: Side, kind: &str, definition: &str) -> bool {
        let list = match from {
            Side::Client => format!("Client{kind}"),
            Side::Server => format!("Server{kind}"),
        };
        let list = &self.document[self.definitions][list];
        let reference = format!("#/{}/{definition}", self.definitions);
        let members = list.get("anyOf").and_then(Value::as_array);
        let is_member = members.is_some_and(|all| all.iter().any(|member| member["$ref"] == reference.as_str()));
        // A list of one is written as that one.
        let own = &self.document[self.definitions][definition];
        let method = |value: &Value| value.pointer("/properties/method/const").cloned();
        is_member || list.get("anyOf").is_none() && method(list).is_some() && method(list) == method(own)
    }

    pub(crate) fn batch(&self, messages: &Value) -> Result<(), String> {
        let calls = messages.get(0).is_some_and(|first| first.get("method").is_some());
        let definition = if calls { "JSONRPCBatchRequest" } else { "JSONRPCBatchResponse" };
        match self.has(definition) {
            true if messages != &json!([]) => self.holds(definition, &exceptions::null_ids(self.version, messages)),
            true => Err("an empty batch".into()),
            false => Err("this version has no batches".into()),
        }
    }

    pub(crate) fn error(&self, message: &Value) -> Result<(), String> {
        self.holds(self.first_of(&["JSONRPCErrorResponse", "JSONRPCError"]), message)?;
        let code = message.pointer("/error/code").and_then(Value::as_i64);
        let Some(definition) = code.and_then(|code| self.errors.get(&code)) else { return Ok(()) };
        let is_whole = self.document[self.definitions][definition].pointer("/properties/error").is_some();
        self.holds(definition, if is_whole { message } else { &message["error"] })
    }

    /// Whether `value` is what the definition says, and if not, where not.
    fn holds(&self, definition: &str, value: &Value) -> Result<(), String> {
        let validator = self.validator(definition)?;
        match validator.iter_errors(value).next() {
            None => Ok(()),
            Some(error) => Err(format!("no {definition}: {}", told(&error))),
        }
    }

    fn validator(&self, definition: &str) -> Result<Arc<Validator>, String> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators.get(definition) {
            return Ok(Arc::clone(validator));
        }
        // In a list of its own, since beside a reference draft-07 reads nothing else.
        let schema = json!({
            "$schema": self.document["$schema"],
            "allOf": [{ "$ref": format!("#/{}/{definition}", self.definitions) }],
            (self.definitions): self.document[self.definitions],
        });
        let built = jsonschema::options().should_validate_formats(false).build(&schema);
        let validator = Arc::new(built.map_err(|error| format!("{definition} does not compile: {error}"))?);
        validators.insert(definition.to_owned(), Arc::clone(&validator));
        Ok(validator)
    }
}

/// The folder that `SANDWIRE_SPEC` names, else one beside the checkout.
pub fn directory() -> Option<PathBuf> {
    let named = std::env::var_os("SANDWIRE_SPEC").filter(|path| !path.is_empty());
    let path = named.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec"), PathBuf::from);
    path.is_dir().then_some(path)
}

fn is_call(name: &str) -> bool {
    let is_list = matches!(name, "ClientNotification" | "ServerNotification" | "ClientRequest" | "ServerRequest");
    !is_list && (name.ends_with("Request") || name.ends_with("Notification"))
}

fn parts(definition: &Value) -> &[Value] {
    definition.get("allOf").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The code of a definition that is an error, or a response with one.
fn code(definition: &Value) -> Option<i64> {
    let error = definition.pointer("/properties/error").unwrap_or(definition);
    let mut both = parts(error).iter().chain([error]);
    both.find_map(|part| part.pointer("/properties/code/const")).and_then(Value::as_i64)
}

/// What an error says, of alternatives that which got furthest.
fn told(error: &ValidationError<'_>) -> String {
    let branches = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => Some(context),
        _ => None,
    };
    let depth = |error: &&ValidationError<'_>| error.instance_path().as_str().matches('/').count();
    let furthest = branches.into_iter().flatten().flatten().max_by_key(depth);
    match furthest {
        Some(inner) if depth(&inner) > depth(&error) => told(inner),
        _ => {
            let text = error.to_string();
            let short: String = text.chars().take(300).collect();
            format!("{short} at `{}`", error.instance_path())
        }
    }
}
