//! Connects to a server over the page's own `fetch`, and does what the smoke test asks for.
#![cfg(target_family = "wasm")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::{FutureExt as _, select_biased};
use js_sys::{Function, Promise};
use sandwire::Client;
use sandwire::client::{Limits, Options};
use sandwire::io::HttpLink;
use sandwire::types::model::{CallToolResult, ContentBlock};
use sandwire_web::{Fetch, WebEnv};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// What to do.
#[derive(Debug, Deserialize)]
struct Task {
    url: String,
    quick: Tool,
    slow: Tool,
}

/// A call.
#[derive(Debug, Deserialize)]
struct Tool {
    name: String,
    arguments: Map<String, Value>,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Outcome {
    version: String,
    tools: Vec<String>,
    quick: String,
    slow: String,
}

/// Lists the tools, calls the quick one and the slow one, and drops a second call of the slow one when `enough`
/// resolves. `told` hears the progress of both.
#[wasm_bindgen]
pub async fn exercise(task: JsValue, told: Function, enough: Promise) -> Result<JsValue, JsError> {
    let Task { url, quick, slow } = serde_wasm_bindgen::from_value(task)?;
    let fetch = Fetch::new().header("X-Smoke", "yes");
    let options = Options::new("page-client", "1.0.0");
    let link = HttpLink::new(Arc::new(fetch), &url, Limits::default());
    let (client, driver) = Client::connect(link, WebEnv::shared(), options);
    sandwire_web::spawn(driver);

    let version = client.ready().await?.version.as_str().to_owned();
    let tools = client.list_all_tools().await?.into_iter().map(|tool| tool.name).collect();
    let call = |tool: &Tool| {
        let told = told.clone();
        client.call_tool(&tool.name, &tool.arguments).on_progress(move |step| {
            // What the page throws is its own affair.
            let _ = told.call1(&JsValue::UNDEFINED, &step.progress.as_f64().into());
        })
    };
    let quick = text(&call(&quick).await?);
    let finished = text(&call(&slow).await?);

    let mut dropped = call(&slow).into_future().fuse();
    let mut enough = JsFuture::from(enough).fuse();
    select_biased! {
        _ = enough => {}
        _ = dropped => return Err(JsError::new("the call ended before it was dropped")),
    }
    drop(dropped);
    client.list_tools().await?;
    client.close();
    Ok(serde_wasm_bindgen::to_value(&Outcome { version, tools, quick, slow: finished })?)
}

/// What came of one call.
#[derive(Debug, Default, Serialize)]
struct Called {
    names: Vec<String>,
    warnings: Vec<String>,
    text: Option<String>,
    message: Option<String>,
}

/// Lists the tools of the server at `url`, and calls the one named `where`.
#[wasm_bindgen]
pub async fn call_where(url: String) -> Result<JsValue, JsError> {
    let warnings = Rc::<RefCell<Vec<String>>>::default();
    let heard = Rc::clone(&warnings);
    let options =
        Options::new("page-client", "1.0.0").on_warning(move |warning| heard.borrow_mut().push(warning.to_string()));
    let link = HttpLink::new(Arc::new(Fetch::new()), &url, Limits::default());
    let (client, driver) = Client::connect(link, WebEnv::shared(), options);
    sandwire_web::spawn(driver);
    let tools = client.list_all_tools().await?;
    let mut called = Called { names: tools.into_iter().map(|tool| tool.name).collect(), ..Called::default() };
    match client.call_tool("where", &[("region", "Malmö")].into_iter().collect::<HashMap<_, _>>()).await {
        Ok(result) => called.text = Some(text(&result)),
        Err(error) => called.message = Some(error.to_string()),
    }
    called.warnings = warnings.take();
    client.close();
    Ok(serde_wasm_bindgen::to_value(&called)?)
}

fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(ContentBlock::as_text).collect()
}
