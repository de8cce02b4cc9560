// Calls a tool of a server on another origin.

/** With a client of the package; without `entry`, with the one written in Rust. */
export async function callWhere({ entry, url }) {
  if (!entry) return callInRust(url);
  const { Client } = await import(entry);
  const warnings = [];
  const client = await Client.connect(url, { onWarning: ({ message }) => warnings.push(message) });
  const names = (await client.listAllTools()).map(({ name }) => name);
  const called = await client.callTool({ name: "where", arguments: { region: "Malmö" } }).catch((error) => error);
  await client.close();
  return { names, warnings, text: called.content?.[0].text, code: called.code, message: called.message };
}

async function callInRust(url) {
  const glue = await import("/rust/page-client.glue.js");
  const { instance, module } = await WebAssembly.instantiateStreaming(fetch("/rust/page-client.wasm"), glue.imports());
  glue.start(instance, module);
  return glue.call_where(url);
}
