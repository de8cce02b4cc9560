// The client of the package where it is said to have failed elsewhere: in a worker, with fetch given in several ways.

/** Lists the tools and calls one over the network; this runs in a worker, too. */
export async function listAndCall(entry, url, tool, options) {
  const { Client } = await import(entry);
  const client = await Client.connect(url, { ...options, headers: { "X-Smoke": "yes" } });
  const tools = await client.listAllTools();
  const result = await client.callTool({ name: tool.name, arguments: tool.arguments });
  await client.close();
  return { tools: tools.length, text: result.content[0].text };
}

/** The same in a worker of this page. */
export function inWorker({ entry, url, tool }) {
  const worker = new Worker("/hosts-worker.js", { type: "module" });
  const done = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
  });
  worker.postMessage({ entry, url, tool });
  return done.finally(() => worker.terminate());
}

/** With fetch as the host has it, taken off it, and as a function of the page's. */
export async function withFetches({ entry, url, tool }) {
  const { fetch } = globalThis;
  const fetches = {
    "the host's": {},
    "taken off the host": { fetch },
    "an arrow": { fetch: (...args) => globalThis.fetch(...args) },
    "a function": {
      fetch(request, init) {
        return globalThis.fetch(request, init);
      },
    },
  };
  const results = {};
  for (const [name, options] of Object.entries(fetches)) {
    results[name] = await listAndCall(entry, url, tool, options).catch((error) => ({ error: error.message }));
  }
  return results;
}
