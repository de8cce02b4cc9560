use super::{Call, CallKey, Config, Timeout, legacy::Resume};
use crate::{Time, client::AskKey};
use sandwire_json::Raw;
use sandwire_types::{LoggingLevel, Method};

/// A request that has not ended: its slot's key is its id on the wire.
#[derive(Debug)]
pub(super) struct Pending {
    /// The key the caller knows; the id on the wire changes with every round.
    pub(super) key: CallKey,
    pub(super) owner: Owner,
    pub(super) stage: Stage,
    pub(super) method: Method,
    pub(super) params: Option<Raw>,
    pub(super) meta: Option<Raw>,
    pub(super) log_level: Option<LoggingLevel>,
    pub(super) progress: bool,
    pub(super) reset_on_progress: bool,
    pub(super) timeout_ms: Option<u64>,
    /// When it has waited too long for an answer.
    pub(super) deadline: Option<Time>,
    /// When it ends whatever happens.
    pub(super) limit: Option<Time>,
    pub(super) exchange: Option<u64>,
    /// The last progress told.
    pub(super) told: Option<Box<str>>,
    /// Whether it was sent again already because something about the connection was stale.
    pub(super) renewed: bool,
    pub(super) rounds: Option<Box<Rounds>>,
    pub(super) resume: Option<Box<Resume>>,
    #[cfg(feature = "param-headers")]
    pub(super) relisting: Option<Box<super::param_headers::Relisting>>,
}

/// Who wants the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Caller,
    Discover,
    Initialize,
    /// A page of `tools/list`, read to learn the header fields that the call of this key lacked.
    #[cfg(feature = "param-headers")]
    Relist(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for the connection to open.
    Queued,
    /// Waits for the answer.
    Sent,
    /// Waits for the application's input.
    Asking,
    /// Waits before it is sent again.
    Paused(Time),
    /// Waits before its event stream is taken up again.
    Resuming(Time),
    /// Waits for the tools to be listed again.
    #[cfg(feature = "param-headers")]
    Relisting,
}

/// What a call that was asked for input knows.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u32,
    pub(super) state: Option<Raw>,
    pub(super) asked: Vec<Asked>,
    /// The parameters of the current round: the caller's with the answers.
    pub(super) params: Option<Raw>,
}

#[derive(Debug)]
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) ask: AskKey,
    pub(super) answer: Option<Raw>,
}

impl Pending {
    pub(super) fn of_caller(call: Call, config: &Config, now: Time) -> Self {
        let timeout_ms = match call.timeout {
            Timeout::After(milliseconds) => Some(milliseconds),
            Timeout::Default if call.method != Method::SubscriptionsListen => Some(config.call_timeout_ms),
            Timeout::Default | Timeout::Never => None,
        };
        Self {
            key: CallKey(0),
            owner: Owner::Caller,
            stage: Stage::Queued,
            method: call.method,
            params: call.params,
            meta: call.meta,
            log_level: call.log_level,
            progress: call.progress,
            reset_on_progress: call.reset_on_progress,
            timeout_ms,
            deadline: timeout_ms.map(|milliseconds| now.after(milliseconds)),
            limit: call.total_timeout_ms.map(|milliseconds| now.after(milliseconds)),
            exchange: None,
            told: None,
            renewed: false,
            rounds: None,
            resume: None,
            #[cfg(feature = "param-headers")]
            relisting: None,
        }
    }

    pub(super) fn of_machine(owner: Owner, method: Method, params: Option<Raw>, timeout_ms: u64, now: Time) -> Self {
        let mut call = Call::new(method, params);
        call.timeout = Timeout::After(timeout_ms);
        let deadline = now.after(timeout_ms);
        Self {
            key: CallKey(0),
            owner,
            stage: Stage::Queued,
            method: call.method,
            params: call.params,
            meta: None,
            log_level: None,
            progress: false,
            reset_on_progress: false,
            timeout_ms: Some(timeout_ms),
            deadline: Some(deadline),
            limit: None,
            exchange: None,
            told: None,
            renewed: false,
            rounds: None,
            resume: None,
            #[cfg(feature = "param-headers")]
            relisting: None,
        }
    }

    /// The parameters to send now.
    pub(super) fn current_params(&self) -> Option<Raw> {
        match &self.rounds {
            Some(rounds) if rounds.params.is_some() => rounds.params.clone(),
            _ => self.params.clone(),
        }
    }

    pub(super) fn restart_timeout(&mut self, now: Time) {
        self.deadline = self.timeout_ms.map(|milliseconds| now.after(milliseconds));
    }

    /// The next moment at which something happens to it by itself.
    pub(super) fn due(&self) -> Option<Time> {
        let stage = match self.stage {
            Stage::Paused(at) | Stage::Resuming(at) => Some(at),
            _ => None,
        };
        [self.deadline, self.limit, stage].into_iter().flatten().min()
    }
}

/// One HTTP exchange that has not ended.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    /// In which of the sessions that followed each other it began.
    pub(super) epoch: u32,
    /// Whether the head arrived.
    pub(super) answered: bool,
    /// What a status that is no success stands for.
    pub(super) failure: Option<crate::TransportError>,
    pub(super) stream: bool,
    pub(super) garbage: bool,
    pub(super) last_event: Option<String>,
    pub(super) retry_ms: Option<u64>,
    /// How often in a row it was taken up again without anything new.
    pub(super) attempts: u32,
    /// When to drop it, once nothing more is wanted of it.
    pub(super) drop_at: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Carries a call's request, or takes up its stream again.
    Call(u64),
    /// Carries `notifications/initialized`.
    Initialized,
    /// Carries a notification or an answer.
    Post,
    /// Carries what belongs to no call (legacy).
    Listen,
    /// Ends the session (legacy).
    End,
}

impl Exchange {
    pub(super) const fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            epoch: 0,
            answered: false,
            failure: None,
            stream: false,
            garbage: false,
            last_event: None,
            retry_ms: None,
            attempts: 0,
            drop_at: None,
        }
    }
}

/// A question the server asked.
#[derive(Debug)]
pub(super) enum Ask {
    /// By a request of its own (legacy).
    Request(sandwire_types::RequestId),
    /// By asking a call for input (modern).
    Round { call: CallKey },
}
