import { Client } from "sandwire/client";

const worker = new Worker("worker.js", { type: "module" });
const client = await Client.connect(worker);
const { structuredContent } = await client.callTool({ name: "add", arguments: { a: 19, b: 23 } });
document.body.textContent = `19 + 23 = ${structuredContent}`;
