use super::{Machine, sampling::answers_tools};
use sandwire_json::{Kind, Raw, Reader, find};
use sandwire_types::{ErrorCode, ErrorObject, Method};

/// What the client's capabilities allow a server to ask, and to answer.
impl Machine {
    /// Whether the server may ask this, by what the client declared.
    ///
    /// # Errors
    /// What to answer instead.
    pub fn admit(&self, method: &Method, params: &Raw) -> Result<(), ErrorObject> {
        let params = params.as_str();
        let declared = self.config.capabilities.as_str();
        let refuse = |message: &'static str| Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
        match method {
            Method::SamplingCreateMessage if let Some(sampling) = object(declared, "sampling") => {
                let tools = find(params, "tools").is_some() || find(params, "toolChoice").is_some();
                if tools && object(sampling, "tools").is_none() {
                    return refuse("this client did not declare sampling.tools");
                }
                match find(params, "messages").is_none_or(answers_tools) {
                    true => Ok(()),
                    false => {
                        refuse("a tool use has no result in the very next message, or a result does not stand alone")
                    }
                }
            }
            Method::ElicitationCreate if let Some(modes) = object(declared, "elicitation") => {
                let url = object(modes, "url").is_some();
                // An empty object declares forms.
                let form = object(modes, "form").is_some() || !url;
                let mode = find(params, "mode").and_then(|mode| Reader::new(mode).string().ok());
                match mode.as_deref() {
                    None | Some("form") if form => Ok(()),
                    Some("url") if url => Ok(()),
                    _ => refuse("this client did not declare this elicitation mode"),
                }
            }
            Method::RootsList if object(declared, "roots").is_some() => Ok(()),
            other => Err(ErrorObject::method_not_found(other)),
        }
    }
}

/// The member of an object that is an object itself.
fn object<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    find(object, key).filter(|value| Reader::new(value).peek() == Ok(Kind::Object))
}
