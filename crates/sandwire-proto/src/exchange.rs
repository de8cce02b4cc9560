/// One HTTP request with its own response stream, or anything else that behaves so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// The stream a message travels on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// The one stream both directions share: a message port, standard input and output, memory.
    Pipe,
    /// The stream of one exchange.
    Exchange(ExchangeId),
}

/// What kind of stream a link offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wire {
    /// One shared stream: every message goes [`Via::Pipe`].
    #[default]
    Pipe,
    /// Streamable HTTP: every message the client sends opens an exchange.
    Http,
    /// One shared stream within a process, on which no rule of the wire holds: the server may ask in place in any era.
    Memory,
}
