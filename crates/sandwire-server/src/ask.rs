//! Questions to the user.

use crate::schema::{self, Schema};
use sandwire_json::{Error, Raw, Writer, find};
use sandwire_proto::server::AskError;
use sandwire_types::{Era, ErrorObject};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A question to the user: a form to fill, or an address to visit.
#[derive(Debug)]
pub struct Form<T> {
    message: String,
    wants: Wants,
    id: Option<String>,
    read: fn(&str) -> Result<T, Error>,
}

#[derive(Debug)]
enum Wants {
    Fields(Raw),
    Visit(String),
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum Elicited<T> {
    /// Filled and sent; for an address, the user agreed to open it.
    Accepted(T),
    /// Refused.
    Declined,
    /// Dismissed without a decision.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The answer, if the user gave one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// A form of one yes-or-no question.
#[derive(Clone, Copy, Debug, Deserialize)]
#[non_exhaustive]
pub struct Agreed {
    /// Whether the user agreed.
    pub agreed: bool,
}

impl Schema for Agreed {
    const NODE: &'static schema::Node = &schema::Node::Object {
        fields: &[schema::Field {
            name: "agreed",
            doc: "",
            rules: "",
            node: bool::NODE,
            input: schema::Presence::Required,
            output: schema::Presence::Required,
        }],
        closed: false,
    };
}

impl<T: DeserializeOwned + Schema> Form<T> {
    /// A form with the fields of `T`, which may be texts, numbers, booleans and choices.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            wants: Wants::Fields(schema::input::<T>()),
            id: None,
            read: sandwire_json::serde::from_str,
        }
    }
}

impl Form<Raw> {
    /// A form with the fields of a schema: an object of flat properties.
    pub fn from_schema(message: impl Into<String>, schema: Raw) -> Self {
        Self { message: message.into(), wants: Wants::Fields(schema), id: None, read: Raw::parse }
    }
}

impl Form<()> {
    /// Asks the user to open an address outside the client, for what the client must not see. The address itself must
    /// hold no secret.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), wants: Wants::Visit(url.into()), id: None, read: |_| Ok(()) }
    }

    /// The id under which the client is [told](crate::Server::elicitation_completed) that what was to do there is done. No
    /// other question may have the same. Without it the id is one that nobody can guess.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }
}

impl<T> Form<T> {
    pub(crate) fn params(&self, era: Era, unguessable: impl FnOnce() -> String) -> Raw {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("mode");
        writer.string(if matches!(self.wants, Wants::Fields(_)) { "form" } else { "url" });
        writer.key("message");
        writer.string(&self.message);
        match &self.wants {
            Wants::Fields(schema) => {
                writer.key("requestedSchema");
                writer.raw(schema.as_str());
            }
            Wants::Visit(url) => {
                writer.key("url");
                writer.string(url);
                if era == Era::Legacy {
                    writer.key("elicitationId");
                    writer.string(&self.id.clone().unwrap_or_else(unguessable));
                }
            }
        }
        writer.end_object();
        writer.into_raw()
    }

    pub(crate) fn read(&self, answer: &Raw) -> Result<Elicited<T>, AskError> {
        match find(answer.as_str(), "action") {
            Some("\"accept\"") => {
                let content = find(answer.as_str(), "content").unwrap_or("{}");
                #[cfg(feature = "schema")]
                if let Wants::Fields(schema) = &self.wants {
                    crate::validate::check_form(schema, content).map_err(AskError::Refused)?;
                }
                (self.read)(content).map(Elicited::Accepted).map_err(|error| nonsense(&error))
            }
            Some("\"decline\"") => Ok(Elicited::Declined),
            Some("\"cancel\"") => Ok(Elicited::Cancelled),
            _ => Err(AskError::Refused(ErrorObject::invalid_params("the answer to a question has no known action"))),
        }
    }
}

/// The error for an answer that is not what was asked for.
pub(crate) fn nonsense(error: &Error) -> AskError {
    let mut message = String::from("the answer to a question cannot be used: ");
    describe(error, &mut message);
    AskError::Refused(ErrorObject::invalid_params(message))
}

/// Says which member is wrong, and how.
pub(crate) fn describe(error: &Error, message: &mut String) {
    if !error.path().is_empty() {
        message.push('`');
        message.push_str(error.path());
        message.push_str("`: ");
    }
    message.push_str(error.message());
}
