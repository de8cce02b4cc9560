use sandwire_json::{Raw, Reader, find};
use sandwire_types::{ErrorCode, ErrorObject, Method};

/// What the client's capabilities allow a server to ask, and to answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    sampling: bool,
    sampling_tools: bool,
    elicitation_form: bool,
    elicitation_url: bool,
    roots: bool,
    tasks_extension: bool,
    other_extension: bool,
}

const TASKS: &str = "io.modelcontextprotocol/tasks";
const OFFICIAL: &str = "io.modelcontextprotocol/";

impl Declared {
    pub(super) fn of(capabilities: &Raw) -> Self {
        let has = |object: &str, key: &str| find(object, key).is_some_and(|value| value.trim_start().starts_with('{'));
        let all = capabilities.as_str();
        let elicitation = find(all, "elicitation");
        let url = elicitation.is_some_and(|modes| has(modes, "url"));
        let mut declared = Self {
            sampling: has(all, "sampling"),
            sampling_tools: find(all, "sampling").is_some_and(|sampling| has(sampling, "tools")),
            // An empty object declares forms.
            elicitation_form: elicitation.is_some_and(|modes| has(modes, "form") || !url),
            elicitation_url: url,
            roots: has(all, "roots"),
            ..Self::default()
        };
        if let Some(extensions) = find(all, "extensions") {
            // Extensions that cannot be read are none.
            let _ = Reader::new(extensions).object(&mut |id, reader| {
                declared.tasks_extension |= id == TASKS;
                declared.other_extension |= !id.starts_with(OFFICIAL);
                reader.skip()
            });
        }
        declared
    }

    /// Whether the server may ask this, and if not, what to answer.
    pub(super) fn admit(&self, method: &Method, params: &Raw) -> Result<(), ErrorObject> {
        let params = params.as_str();
        let refuse = |message: &'static str| Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
        match method {
            Method::SamplingCreateMessage if self.sampling => {
                let tools = find(params, "tools").is_some() || find(params, "toolChoice").is_some();
                if tools && !self.sampling_tools {
                    refuse("this client did not declare sampling.tools")
                } else {
                    Ok(())
                }
            }
            Method::ElicitationCreate if self.elicitation_form || self.elicitation_url => {
                let mode = find(params, "mode").and_then(|mode| Reader::new(mode).string().ok());
                match mode.as_deref() {
                    None | Some("form") if self.elicitation_form => Ok(()),
                    Some("url") if self.elicitation_url => Ok(()),
                    _ => refuse("this client did not declare this elicitation mode"),
                }
            }
            Method::RootsList if self.roots => Ok(()),
            other => Err(ErrorObject::method_not_found(other)),
        }
    }

    /// Whether an extension this client declared may answer with this kind of result.
    pub(super) fn extends_result(&self, kind: &str) -> bool {
        if kind == "task" { self.tasks_extension } else { self.other_extension }
    }
}
