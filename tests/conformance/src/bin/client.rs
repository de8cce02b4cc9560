//! The client natively: does what the scenario asks for that the environment names, with the server at the address in
//! the last argument.
#![allow(clippy::print_stderr)]

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::env::VarError;

    use sandwire::client::{Client, Error, Options};
    use sandwire::types::model::{
        CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult, Role, SamplingMessageContentBlock,
        TextContent,
    };
    use sandwire::types::{ErrorObject, ProtocolVersion, Raw};
    use serde::Deserialize;
    use serde_json::{Value, json};

    type Outcome = Result<(), Box<dyn std::error::Error>>;

    pub(super) fn run() -> Outcome {
        let url = std::env::args().next_back().unwrap_or_default();
        let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
        let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(text) => serde_json::from_str(&text)?,
            Err(VarError::NotPresent) => Context::default(),
            Err(error) => return Err(error.into()),
        };
        sandwire::block_on(async {
            let client = sandwire::connect(url).options(options()?).await?;
            let done = follow(&scenario, &context, &client).await;
            client.close();
            done
        })
    }

    /// What some scenarios say beside the address.
    #[derive(Debug, Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Context {
        tool_calls: Vec<ToolCall>,
    }

    #[derive(Debug, Deserialize)]
    struct ToolCall {
        name: String,
        arguments: Value,
    }

    fn options() -> Result<Options, Box<dyn std::error::Error>> {
        let version = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
        let options = Options::new("sandwire-conformance-client", env!("CARGO_PKG_VERSION"))
            .version(ProtocolVersion::parse(&version).ok_or("the suite names a version that is not known")?)
            .capabilities(Raw::parse(
                r#"{"elicitation":{"form":{"applyDefaults":true}},"sampling":{},"roots":{"listChanged":true}}"#,
            )?)
            .on_elicitation(|form| async { filled(form) })
            .on_sampling(|_| async {
                let text = SamplingMessageContentBlock::Text(TextContent::new("Paris"));
                Ok(CreateMessageResult::new(Role::Assistant, text, "a-model"))
            })
            .changing_roots(|| async { Ok(Vec::new()) });
        Ok(options)
    }

    async fn follow(scenario: &str, context: &Context, client: &Client) -> Outcome {
        match scenario {
            "http-standard-headers" => everything(client).await?,
            "http-custom-headers" => {
                client.list_all_tools().await?;
                for call in &context.tool_calls {
                    client.call_tool(&call.name, &call.arguments).await?;
                }
            }
            "json-schema-2020-12-preservation" => {
                let tools = client.list_all_tools().await?;
                let tool = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
                let schema = tool.map(|tool| &tool.input_schema).ok_or("there is no such tool")?;
                client.call_tool("json_schema_echo", &json!({ "schema": schema })).await?;
            }
            "initialize" | "json-schema-ref-no-deref" | "request-metadata" => {
                client.list_all_tools().await?;
            }
            "tools_call" => {
                client.list_all_tools().await?;
                client.call_tool("add_numbers", &json!({ "a": 5, "b": 3 })).await?;
            }
            "elicitation-sep1034-client-defaults"
            | "http-invalid-tool-headers"
            | "sep-2322-client-request-state"
            | "sse-retry" => call_all_tools(client).await?,
            "sep-2640-client-no-prefetch" => {
                client.list_all_skills().await?;
            }
            "sep-2640-client-verify-digest" | "sep-2640-client-verify-frontmatter" | "sep-2640-client-verify-size" => {
                for skill in client.list_all_skills().await? {
                    let skill = client.open_skill(skill)?;
                    skill.instructions().await?;
                    skill.read("references/FORMS.md").await?;
                }
            }
            _ => return Err(format!("this client does not know the scenario {scenario}").into()),
        }
        Ok(())
    }

    async fn everything(client: &Client) -> Result<(), Error> {
        call_all_tools(client).await?;
        for resource in client.list_all_resources().await? {
            client.read_resource(&resource.uri).await?;
        }
        for prompt in client.list_all_prompts().await? {
            client.get_prompt(&prompt.name, []).await?;
        }
        Ok(())
    }

    async fn call_all_tools(client: &Client) -> Result<(), Error> {
        for tool in client.list_all_tools().await? {
            client.call_tool(&tool.name, &json!({})).await?;
        }
        Ok(())
    }

    /// Leaves every field as it is filled in already, and makes something up for the others.
    fn filled(asked: ElicitRequestParams) -> Result<ElicitResult, ErrorObject> {
        let ElicitRequestParams::Form(form) = asked else {
            return Ok(ElicitResult::new(ElicitAction::Decline));
        };
        let wrong = |error: serde_json::Error| ErrorObject::invalid_params(error.to_string());
        let schema = serde_json::to_value(&form.requested_schema).map_err(wrong)?;
        let fields = schema.get("properties").and_then(Value::as_object);
        let content = fields
            .into_iter()
            .flatten()
            .map(|(name, field)| (name.as_str(), Raw::from_valid(fill(field).to_string())))
            .collect();
        Ok(ElicitResult::new(ElicitAction::Accept).with(|result| result.content = Some(content)))
    }

    fn fill(field: &Value) -> Value {
        match (field.get("default"), field.get("type").and_then(Value::as_str)) {
            (Some(default), _) => default.clone(),
            (None, Some("boolean")) => json!(true),
            (None, Some("number" | "integer")) => json!(1),
            (None, _) => json!("something"),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    match native::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(target_family = "wasm")]
fn main() {}
