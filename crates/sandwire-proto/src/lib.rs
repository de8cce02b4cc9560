//! The Model Context Protocol as values: a machine for each side that takes inputs and the time, and gives outputs.
//!
//! Nothing here waits, reads a clock, draws random numbers or touches the outside world, and nothing a peer sends
//! can make it panic. `sandwire-io` runs these machines over real links.
//!
//! Reading order: [`Time`], [`Via`] and [`Input`] (what a machine is told), [`client`] (its opening, then what each
//! era adds), [`http`] (heads, header rules, event streams), [`Limits`], and the faults, named by who is at fault.
#![forbid(unsafe_code)]

mod base64;
pub mod client;
mod decimal;
mod exchange;
mod fault;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(not(feature = "faults"))]
mod faults;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod http;
mod input;
mod limits;
mod peer;
mod principal;
pub mod server;
#[cfg(feature = "sim")]
pub mod sim;
mod time;

pub use exchange::{ExchangeId, Via, Wire};
pub use fault::{ApiMisuse, PeerIncompatible, PeerMisbehaved, TransportError, TransportErrorKind};
pub use input::{Ended, Input};
pub use limits::Limits;
pub use peer::PeerInfo;
pub use principal::Principal;
pub use time::Time;
