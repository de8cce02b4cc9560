//! A client with its driver on a thread.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use sandwire_client::{Client, Options};
use sandwire_io::TextLink;
use sandwire_native::{NativeEnv, block_on, stdio::Command};
use sandwire_proto::Limits;
use serde_json::Value;

/// The client of these tests.
#[must_use]
pub fn options() -> Options {
    Options::new("native-tests", "1.0").timeout(Duration::from_secs(30))
}

/// A client and the thread that drives it.
#[derive(Debug)]
pub struct Connection {
    /// The client.
    pub client: Client,
    thread: JoinHandle<()>,
}

impl Connection {
    /// Starts a server and a thread for the driver.
    ///
    /// # Panics
    ///
    /// When the server does not start.
    #[must_use]
    pub fn spawn(command: Command, options: Options) -> Self {
        let limits = Limits::default();
        let process = command.spawn(&limits).expect("the server starts");
        let (client, driver) = Client::connect(TextLink::new(process, limits), NativeEnv::shared(), options);
        Self { client, thread: thread::spawn(|| block_on(driver)) }
    }

    /// Closes the client and waits for its driver.
    ///
    /// # Panics
    ///
    /// When the driver did.
    pub fn close(self) {
        self.client.close();
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Calls a tool and gives the first text of its result.
///
/// # Panics
///
/// When the call fails or gives no text.
pub async fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let result = client.call_tool(tool, &arguments).await.unwrap_or_else(|error| panic!("{tool}: {error}"));
    let block = result.content.first().map(|block| serde_json::to_value(block).expect("a block is JSON"));
    let text = block.as_ref().and_then(|block| block.get("text")).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("{tool} gave no text: {block:?}")).to_owned()
}

/// The names of all tools.
///
/// # Panics
///
/// When the list fails.
pub async fn tool_names(client: &Client) -> Vec<String> {
    let tools = client.list_all_tools().await.unwrap_or_else(|error| panic!("listing the tools: {error}"));
    tools.into_iter().map(|tool| tool.name.to_string()).collect()
}
