//! A server's machine, what its endpoint works on, and what may be sent.

use sandwire_json::{Raw, find};
use sandwire_proto::{Via, server};
use sandwire_types::{Message, Method, Reply, RequestId};

use super::world::Check;

/// One connection's server, or one exchange's.
pub struct Server {
    pub via: Via,
    pub machine: server::Machine,
    pub running: Vec<Running>,
    /// The requests that have no answer.
    pub open: Vec<RequestId>,
    pub listens: Vec<(RequestId, bool)>,
    pub progress: Vec<(String, f64)>,
    pub answered: bool,
}

/// A call that the endpoint works on.
pub struct Running {
    pub key: server::CallKey,
    pub id: RequestId,
    pub number: u64,
    pub cancelled: bool,
    pub asked: Option<server::AskKey>,
}

impl Server {
    pub fn new(via: Via, machine: server::Machine) -> Self {
        Self {
            via,
            machine,
            running: Vec::new(),
            open: Vec::new(),
            listens: Vec::new(),
            progress: Vec::new(),
            answered: false,
        }
    }

    /// A subscription that its client ended has no answer.
    pub fn forget_listen(&mut self, id: Option<&str>) {
        let is_call = self.running.iter().any(|running| Some(&*running.id.to_string()) == id);
        if !is_call {
            self.open.retain(|open| Some(&*open.to_string()) != id);
        }
    }

    pub fn check_sent(&mut self, message: &Message) -> Check {
        match message {
            Message::Response(response) => {
                let Some(id) = &response.id else { return Ok(()) };
                let at = self.open.iter().position(|open| open == id);
                let at = at.ok_or_else(|| format!("an answer to {id}, which waits for none"))?;
                self.open.swap_remove(at);
                self.listens.retain(|(listen, _)| listen != id);
            }
            Message::Notification(told) if told.method == Method::Progress => {
                let params = told.params.as_ref().map_or("", Raw::as_str);
                let token = find(params, "progressToken").unwrap_or_default();
                let now: f64 = find(params, "progress").and_then(|number| number.parse().ok()).unwrap_or(f64::NAN);
                match self.progress.iter_mut().find(|(of, _)| of == token) {
                    Some((_, before)) if now <= *before => return Err(format!("progress went from {before} to {now}")),
                    Some((_, before)) => *before = now,
                    None => self.progress.push((token.to_owned(), now)),
                }
            }
            Message::Notification(told) => {
                let Some(id) = &told.subscription else { return Ok(()) };
                let wants = self.listens.iter().find(|(listen, _)| listen == id).map(|(_, tools)| *tools);
                let fits = match told.method {
                    Method::ToolsListChanged => wants == Some(true),
                    Method::PromptsListChanged => wants == Some(false),
                    _ => wants.is_some(),
                };
                if !fits {
                    return Err(format!("{} was told to {id}, which did not ask for it", told.method));
                }
            }
            Message::Request(_) => {}
        }
        Ok(())
    }
}

pub fn result(number: u64) -> Reply {
    Reply::new(Raw::from_valid(format!(r#"{{"content":[],"n":{number}}}"#)))
}

pub fn number_of(value: &Raw) -> Option<u64> {
    find(value.as_str(), "n")?.parse().ok()
}

pub fn is_answer_to(number: u64, answer: &Raw) -> Check {
    let question = answer.get("content").and_then(|content| content.get("q"));
    match question {
        Some(question) if question.as_str() == number.to_string() => Ok(()),
        _ => Err(format!("question {number} was answered with {}", answer.as_str())),
    }
}
