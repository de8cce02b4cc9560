// The official TypeScript packages on Node's own server: `node server.mjs <folder with node_modules>` prints the port.
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(path.join(process.argv[2], "package.json")));
const { McpServer, createMcpHandler } = require("@modelcontextprotocol/server");
const { toNodeHandler } = require("@modelcontextprotocol/node");
const { z } = require("zod");

function build() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool(
    "add",
    {
      description: "Adds two integers.",
      inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
      outputSchema: z.object({ sum: z.number().int() }),
    },
    ({ a, b }) => {
      const structuredContent = { sum: a + b };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  return server;
}

const handle = toNodeHandler(createMcpHandler(build));
const server = http.createServer((request, response) => handle(request, response));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
