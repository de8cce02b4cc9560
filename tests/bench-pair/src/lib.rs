//! A client and a server joined in one wasm module, for the bench.
#![cfg(target_family = "wasm")]

use std::sync::Arc;

use futures_util::FutureExt as _;
use sandwire_io::client::{ClientHandle, Config, NoHooks};
use sandwire_io::in_memory;
use sandwire_proto::client::Call;
use sandwire_server::{Schema, Server};
use sandwire_types::{Method, Raw};
use sandwire_web::WebEnv;
use wasm_bindgen::prelude::*;

#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// What to add.
#[derive(serde::Deserialize, Schema)]
struct Args {
    a: i64,
    b: i64,
}

/// What came out.
#[derive(serde::Serialize, Schema)]
struct Sum {
    sum: i64,
}

/// A client of the server beside it.
#[derive(Debug)]
#[wasm_bindgen]
pub struct Pair(ClientHandle);

#[wasm_bindgen]
impl Pair {
    /// Joins the two.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Self, JsError> {
        let server = Server::builder("bench", "1.0.0")
            .tool("add", "Adds two integers.", |Args { a, b }: Args| Sum { sum: a + b })
            .build()?;
        let config = Config::new("bench", "1.0.0");
        let (client, driver) = in_memory(Arc::new(server), config, WebEnv::shared(), Box::new(NoHooks));
        sandwire_web::spawn(driver);
        Ok(Self(client))
    }

    /// Calls the tool that the JSON text names, and gives the result as JSON text.
    #[wasm_bindgen(js_name = callTool)]
    pub fn call_tool(&self, params: String) -> Result<String, JsError> {
        let params = Raw::parse(&params)?;
        let call = self.0.call(Call::new(Method::ToolsCall, Some(params)));
        match call.now_or_never() {
            Some(reply) => Ok(reply?.value.as_str().to_owned()),
            None => Err(JsError::new("the handler waits")),
        }
    }
}
