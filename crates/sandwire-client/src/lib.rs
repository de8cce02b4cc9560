//! A Model Context Protocol client: typed calls over any link, in either era of the protocol.
//!
//! It never spawns, opens a socket, or reads a clock: a platform crate makes the link and runs the [`Driver`].
//!
//! ```
//! use sandwire_client::Client;
//! # use std::sync::Arc;
//! # use sandwire_io::{Answer, Call, Endpoint};
//! # use sandwire_types::{Raw, Reply};
//! # #[derive(Clone)]
//! # struct Calculator(Arc<sandwire_proto::server::Config>);
//! # impl Endpoint for Calculator {
//! #     fn config(&self) -> Arc<sandwire_proto::server::Config> { self.0.clone() }
//! #     fn call(&self, _: Call) -> Answer {
//! #         Answer::Ready(Ok(Reply::new(Raw::from_valid(r#"{"content":[],"structuredContent":{"sum":3}}"#))))
//! #     }
//! # }
//! # async fn example(server: Calculator) -> Result<(), sandwire_client::Error> {
//! #[derive(serde::Serialize)]
//! struct Add { a: i64, b: i64 }
//! #[derive(serde::Deserialize)]
//! struct Sum { sum: i64 }
//!
//! let (client, driver) = Client::in_memory(&server);
//! // Run `driver` beside this: spawn it, or join it with what calls.
//! let result: Sum = client.call_tool("add", &Add { a: 1, b: 2 }).structured().await?;
//! assert_eq!(result.sum, 3);
//! # drop(driver);
//! # Ok(())
//! # }
//! ```
//!
//! In reading order: [`Client`] (connecting and calling), [`Request`] (what every call gives: options, then `.await`),
//! [`Options`] (who the client is and what it answers), [`Error`].
//!
//! # Design decisions
//!
//! - Every call is a [`Request`] that is sent when it is first awaited and cancelled when it is dropped.
//! - Results are decoded by the types of [`sandwire_types::model`], which keep what they do not know.
//! - Handlers run inside the driver, each as a future of its own.
#![forbid(unsafe_code)]

mod cache;
mod client;
mod elicitation;
mod error;
mod handler;
mod options;
mod page;
mod request;
mod rounds;
#[cfg(feature = "skills")]
mod skill;
mod subscription;
#[cfg(feature = "tasks")]
mod tasks;
#[cfg(feature = "schema")]
mod validate;

pub use cache::CacheOptions;
pub use client::Client;
pub use elicitation::{apply_defaults, form_defaults};
pub use error::{Error, ErrorKind};
pub use options::Options;
pub use page::Page;
pub use request::{Request, Response};
pub use rounds::{InputRequired, Outcome};
pub use sandwire_io::client::{Driver, Mode, OpenError, SessionLoss, Warning};
pub use sandwire_proto::{Limits, PeerInfo};
#[cfg(feature = "skills")]
pub use sandwire_skills as skills;
#[cfg(feature = "skills")]
pub use skill::OpenSkill;
pub use subscription::{Subscription, SubscriptionEnd};
#[cfg(feature = "tasks")]
pub use tasks::Called;
