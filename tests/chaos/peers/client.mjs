// A modern client on Node's plain HTTP: 80 calls, eight at a time. Its one line: how many had the right answer, how
// many none, how many a wrong one.
import { Agent, request } from "node:http";

const url = process.argv[2];
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const version = "2026-07-28";

function call(id) {
  const label = { client: 9, call: id, pauses: id % 3 };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
    progressToken: id,
  };
  const body = JSON.stringify({
    jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: label, _meta: meta },
  });
  const headers = {
    "content-type": "application/json", accept: "application/json, text/event-stream",
    "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "echo",
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", headers, agent, timeout: 2000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => (text += chunk));
      response.on("error", () => resolve("failed"));
      response.on("close", () => {
        const lines = text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
        const last = (response.headers["content-type"] ?? "").startsWith("text/event-stream") ? lines.at(-1) : text;
        let message;
        try {
          message = JSON.parse(last);
        } catch {
          return resolve("failed");
        }
        if (message.result === undefined) return resolve(message.method ? "failed" : "wrong");
        const same = JSON.stringify(message.result.structuredContent) === JSON.stringify(label);
        resolve(same && message.id === id ? "right" : "wrong");
      });
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve("failed"));
    sent.end(body);
  });
}

const outcomes = { right: 0, failed: 0, wrong: 0 };
for (let round = 0; round < 10; round++) {
  const ids = Array.from({ length: 8 }, (_, at) => round * 8 + at + 1);
  for (const outcome of await Promise.all(ids.map(call))) outcomes[outcome]++;
}
agent.destroy();
console.log(outcomes.right, outcomes.failed, outcomes.wrong);
