// Our client in JavaScript: `node client.mjs <folder of the package> http <version> <address>`
import { appendFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { areas, elicit, report, sample } from "../../peers/npm/areas.mjs";

const [folder, , version, target] = process.argv.slice(2);
const { Client } = await import(pathToFileURL(path.join(folder, "dist/client.js")));
const record = process.env.INTEROP_RECORD;

const modern = version >= "2026";
let updates = 0;
const heard = (method) => void (updates += Number(method === "notifications/resources/updated"));
const options = {
  name: "interop",
  version,
  handlers: {
    "elicitation/create": (params) => elicit({ params }),
    "sampling/createMessage": sample,
  },
  onNotification: heard,
  // What the run holds against the official schemas.
  onraw: (direction, text) => {
    const word = direction === "sent" ? "Sent" : "Received";
    if (record !== undefined) appendFileSync(record, `0 ${word} ${text.replaceAll(/[\r\n]/g, " ")}\n`);
  },
};
let client;
try {
  client = await Client.connect(target, options);
} catch (error) {
  await report("negotiate", () => Promise.reject(error));
  process.exit();
}
await areas({
  client,
  version,
  negotiated: () => client.protocolVersion,
  call: (name, args, { onprogress, ...options } = {}) =>
    client.callTool({ name, arguments: args }, { ...options, ...(onprogress && { onProgress: onprogress }) }),
  subscribe: async (uri) => {
    if (modern) {
      const stop = new AbortController();
      await new Promise((resolve, reject) => {
        const told = (method) => (method === "notifications/subscriptions/acknowledged" ? resolve() : heard(method));
        client.listen({ resourceSubscriptions: [uri] }, told, { signal: stop.signal }).catch(reject);
      });
      return () => stop.abort();
    }
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  },
  updated: () => updates,
});
client.close();
