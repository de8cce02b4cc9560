//! Calls whose questions the caller answers itself, at once or at any later time (modern era).

use crate::{Error, Request, request};
use sandwire_json::{Raw, Read, Writer};
use sandwire_types::{
    Reply, ResultKind,
    model::{InputRequests, InputResponses},
};

/// What a call made with [`manual`](Request::manual) gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The result.
    Complete(T),
    /// The server asks for input first: make the call again with [`Request::resume`].
    InputRequired(InputRequired),
}

/// What a server asks for before it gives a result. It can be kept as text, and outlives the connection.
///
/// ```
/// # use sandwire_client::{Client, Error, InputRequired, Outcome};
/// # use sandwire_json::Raw;
/// # use sandwire_types::model::InputResponses;
/// # async fn example(client: Client, answers: InputResponses) -> Result<(), Error> {
/// let outcome = client.call_tool("book", &()).manual().await?;
/// if let Outcome::InputRequired(asked) = outcome {
///     let kept: String = asked.as_raw().as_str().to_owned();
///     // Any time later, over this connection or another:
///     let asked = InputRequired::from(Raw::parse(&kept).expect("what was kept"));
///     client.call_tool("book", &()).resume(&asked, answers).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired(Raw);

impl InputRequired {
    /// The questions, by the keys under which they are answered. There may be none: then the server only wants to be
    /// called again.
    #[must_use]
    pub fn requests(&self) -> InputRequests {
        let requests = self.0.get("inputRequests");
        requests.and_then(|requests| sandwire_json::from_str(requests.as_str()).ok()).unwrap_or_default()
    }

    /// The whole result, as the server wrote it.
    #[must_use]
    pub fn as_raw(&self) -> &Raw {
        &self.0
    }
}

impl From<Raw> for InputRequired {
    /// What [`as_raw`](Self::as_raw) gave.
    fn from(kept: Raw) -> Self {
        Self(kept)
    }
}

impl<T: Read> Request<T> {
    /// Gives what the server asks for to the caller instead of to this client's handlers.
    ///
    /// It may ask only for what the client declares: see [`Options::capabilities`](crate::Options::capabilities).
    pub fn manual(self) -> Request<Outcome<T>> {
        self.with(|call| call.request.manual_rounds = true).decoded_by(outcome)
    }
}

impl<T> Request<T> {
    /// The call that was asked for input, made again with answers to what it was asked for. Everything else is to be as it
    /// was the first time.
    pub fn resume(self, asked: &InputRequired, answers: InputResponses) -> Self {
        self.with(|call| {
            let params = call.request.params.take();
            call.request.params = Some(answered(params, asked, &answers));
        })
    }
}

fn outcome<T: Read>(reply: Reply) -> Result<Outcome<T>, Error> {
    match reply.kind {
        ResultKind::InputRequired => Ok(Outcome::InputRequired(InputRequired(reply.value))),
        _ => request::decode(reply).map(Outcome::Complete),
    }
}

/// The parameters of the next round. The state goes back as it was written.
fn answered(params: Option<Raw>, asked: &InputRequired, answers: &InputResponses) -> Raw {
    let mut written = Writer::new();
    written.begin_object();
    if let Some(params) = params {
        // They were written here, and can be read.
        let _ = params.reader().object(&mut |member, reader| {
            let value = reader.raw()?;
            if !matches!(member, "inputResponses" | "requestState") {
                written.key(member);
                written.raw(value);
            }
            Ok(())
        });
    }
    if !answers.is_empty() {
        written.key("inputResponses");
        sandwire_json::Write::write(answers, &mut written);
    }
    if let Some(state) = asked.0.get("requestState") {
        written.key("requestState");
        written.raw(state.as_str());
    }
    written.end_object();
    written.into_raw()
}
