use super::{Call, CallKey, Config, Timeout};
use crate::{Time, TransportError, client::AskKey};
use sandwire_json::Raw;
use sandwire_types::{Method, RequestId};

/// A request that has not ended: its slot's key is its id on the wire.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) call: Call,
    /// The key the caller knows; the id on the wire changes with every round.
    pub(super) key: CallKey,
    pub(super) owner: Owner,
    pub(super) stage: Stage,
    /// When it has waited too long for an answer.
    pub(super) deadline: Time,
    /// When it ends whatever happens.
    pub(super) limit: Time,
    /// When its stage ends by itself.
    pub(super) wake_at: Time,
    pub(super) exchange: Option<u64>,
    /// The last progress told.
    pub(super) told: Option<Box<str>>,
    /// Whether it was sent again already because something about the connection was stale.
    pub(super) renewed: bool,
    pub(super) rounds: Option<Box<Rounds>>,
    /// Where to take up its event stream.
    pub(super) bookmark: Bookmark,
    #[cfg(feature = "param-headers")]
    pub(super) relisting: Option<Box<super::param_headers::Relisting>>,
}

/// Who wants the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Caller,
    Discover,
    Initialize,
    /// Nobody: a new server is told what its predecessor was.
    Standing,
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
    Paused,
    /// Waits before its event stream is taken up again.
    Resuming,
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

/// How far an event stream came, for taking it up again.
#[derive(Debug, Default)]
pub(super) struct Bookmark {
    pub(super) last_event: Option<String>,
    /// How long the server wants to be left alone before.
    pub(super) retry_ms: Option<u64>,
    /// How often in a row it was taken up again without anything new.
    pub(super) attempts: u32,
}

impl Pending {
    pub(super) fn new(owner: Owner, mut call: Call, config: &Config, now: Time) -> Box<Self> {
        if call.timeout == Timeout::Default && !matches!(call.method, Method::SubscriptionsListen) {
            call.timeout = Timeout::After(config.call_timeout_ms);
        }
        let mut pending = Box::new(Self {
            key: CallKey(0),
            owner,
            stage: Stage::Queued,
            deadline: Time::NEVER,
            limit: call.total_timeout_ms.map_or(Time::NEVER, |milliseconds| now.after(milliseconds)),
            wake_at: Time::NEVER,
            exchange: None,
            told: None,
            renewed: false,
            rounds: None,
            bookmark: Bookmark::default(),
            #[cfg(feature = "param-headers")]
            relisting: None,
            call,
        });
        pending.restart_timeout(now);
        pending
    }

    /// Whether an answer may come.
    pub(super) fn is_sent(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Resuming)
    }

    /// The parameters to send now.
    pub(super) fn current_params(&self) -> Option<Raw> {
        match &self.rounds {
            Some(rounds) if rounds.params.is_some() => rounds.params.clone(),
            _ => self.call.params.clone(),
        }
    }

    pub(super) fn enter(&mut self, stage: Stage) {
        self.enter_until(Time::NEVER, stage);
    }

    /// Enters a stage that ends by itself.
    pub(super) fn enter_until(&mut self, at: Time, stage: Stage) {
        self.stage = stage;
        self.wake_at = at;
    }

    pub(super) fn restart_timeout(&mut self, now: Time) {
        self.deadline = match self.call.timeout {
            Timeout::After(milliseconds) => now.after(milliseconds),
            Timeout::Default | Timeout::Never => Time::NEVER,
        };
    }

    /// The next moment at which something happens to it by itself.
    pub(super) fn due(&self) -> Time {
        self.deadline.min(self.limit).min(self.wake_at)
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
    pub(super) failure: Option<TransportError>,
    pub(super) stream: bool,
    pub(super) garbage: bool,
    pub(super) bookmark: Bookmark,
    /// When to drop it, once nothing more is wanted of it.
    pub(super) drop_at: Time,
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
    pub(super) fn new(purpose: Purpose, epoch: u32) -> Box<Self> {
        Box::new(Self {
            purpose,
            epoch,
            answered: false,
            failure: None,
            stream: false,
            garbage: false,
            bookmark: Bookmark::default(),
            drop_at: Time::NEVER,
        })
    }
}

/// A question the server asked.
#[derive(Debug)]
pub(super) enum Ask {
    /// By a request of its own (legacy).
    Request(RequestId),
    /// By asking a call for input (modern).
    Round { call: CallKey },
}
