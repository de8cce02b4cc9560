// The client as wasm, through the npm package: does what the scenario asks for that the environment names, with the
// server at the address in the last argument.
import { Client } from "sandwire/client";
import { listSkills, openSkill } from "sandwire/skills";

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_PROTOCOL_VERSION: version } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

const handlers = {
  "elicitation/create": ({ requestedSchema }) => ({ action: "accept", content: filled(requestedSchema?.properties) }),
  "sampling/createMessage": () => ({ role: "assistant", content: { type: "text", text: "Paris" }, model: "a-model" }),
  "roots/list": () => ({ roots: [] }),
};

const capabilities = { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: { listChanged: true } };

/** Leaves every field as it is filled in already, and makes something up for the others. */
function filled(fields = {}) {
  const made = { boolean: true, number: 1, integer: 1 };
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.default ?? made[field.type] ?? "something"]),
  );
}

async function readAllSkills(client) {
  for (const entry of (await listSkills(client)).skills) {
    const skill = await openSkill(client, entry);
    await skill.instructions();
    await skill.read("references/FORMS.md");
  }
}

async function callAllTools(client) {
  for (const { name } of await client.listAllTools()) await client.callTool({ name, arguments: {} });
}

const scenarios = {
  "initialize": (client) => client.listAllTools(),
  "json-schema-ref-no-deref": (client) => client.listAllTools(),
  "request-metadata": (client) => client.listAllTools(),
  "elicitation-sep1034-client-defaults": callAllTools,
  "http-invalid-tool-headers": callAllTools,
  "sep-2322-client-request-state": callAllTools,
  "sse-retry": callAllTools,
  "sep-2640-client-no-prefetch": (client) => listSkills(client),
  "sep-2640-client-verify-digest": readAllSkills,
  "sep-2640-client-verify-frontmatter": readAllSkills,
  "sep-2640-client-verify-size": readAllSkills,
  async tools_call(client) {
    await client.listAllTools();
    await client.callTool({ name: "add_numbers", arguments: { a: 5, b: 3 } });
  },
  async "http-standard-headers"(client) {
    await callAllTools(client);
    for (const { uri } of await client.listAllResources()) await client.readResource({ uri });
    for (const { name } of await client.listAllPrompts()) await client.getPrompt({ name });
  },
  async "http-custom-headers"(client) {
    await client.listAllTools();
    for (const call of context.toolCalls) await client.callTool(call);
  },
  async "json-schema-2020-12-preservation"(client) {
    const tools = await client.listAllTools();
    const { inputSchema: schema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
    await client.callTool({ name: "json_schema_echo", arguments: { schema } });
  },
};

const follow = scenarios[scenario];
if (!follow) throw new Error(`this client does not know the scenario ${scenario}`);
const client = await Client.connect(process.argv.at(-1), { name: "sandwire-conformance-client", version, handlers, capabilities });
await follow(client);
await client.close();
