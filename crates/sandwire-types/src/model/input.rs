//! [Requests of several rounds](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr):
//! what a modern server asks for before it answers.

use sandwire_json::Raw;

use super::macros::noun;
use super::support::Map;

noun! {
    /// A question to the client: a request without an id.
    InputRequest {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
        method: String = "method",
    } optional {
        /// What it is called with.
        params: Raw as object = "params",
    }
}

/// Questions to the client, by keys that the answers repeat.
pub type InputRequests = Map<InputRequest>;

/// Answers by the keys of the questions: each is the result of the question's method, an object.
pub type InputResponses = Map<Raw>;

noun! {
    /// The result that asks for input. At least one of its members is there.
    InputRequiredResult {} optional {
        /// What is asked.
        input_requests: InputRequests as questions = "inputRequests",
        /// What the server wants to be told again.
        request_state: String = "requestState",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
