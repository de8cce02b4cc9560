import { Server } from "sandwire/server";

const server = new Server({ name: "greeter", version: "1.0.0" }, { hosts: ["example.com"] });
const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
server.tool("greet", { description: "Greets somebody.", inputSchema }, ({ name }, context) => {
  context.progress(1, 2);
  return `Hello, ${name}!`;
});

export default server; // for an edge isolate; in a web worker say server.listen()
