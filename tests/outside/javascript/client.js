import { Client } from "sandwire/client";

const client = await Client.connect("https://example.com/mcp");
const { tools } = await client.listTools();
const { content } = await client.callTool(
  { name: tools[0].name, arguments: { name: "Ada" } },
  { onProgress: ({ progress, total }) => console.log(`${progress} of ${total}`), signal: AbortSignal.timeout(60_000) },
);
document.body.textContent = content[0].text;
