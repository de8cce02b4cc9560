// A loopback HTTP proxy that forwards bytes as they come and remembers what it saw.
import http from "node:http";

const EXPOSED = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate";

/**
 * @typedef {object} Exchange
 * @property {string} method HTTP method.
 * @property {Record<string, string | string[] | undefined>} headers Request headers.
 * @property {any} message The request body when it is JSON.
 * @property {number} at Start, milliseconds of `performance.now()`.
 * @property {number} [status] Status of the response.
 * @property {number[]} chunks When each piece of the response body was forwarded.
 * @property {number} [endedAt] When the response was complete.
 * @property {number} [closedAt] When the client went away before that.
 */

/** Starts a proxy in front of `target` (an origin) on a free loopback port. */
export async function startProxy(target) {
  const upstream = new URL(target);
  /** @type {Exchange[]} */
  const exchanges = [];

  const server = http.createServer((request, response) => {
    const exchange = { method: request.method, headers: request.headers, at: performance.now(), chunks: [] };
    if (request.method !== "OPTIONS") exchanges.push(exchange);
    collect(request).then((body) => {
      exchange.message = parse(body);
      forward(upstream, request, body, response, exchange);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    exchanges,
    /** Exchanges whose request body is a message of that JSON-RPC method. */
    sent: (method) => exchanges.filter((exchange) => exchange.message?.method === method),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(upstream, request, body, response, exchange) {
  const headers = { ...request.headers, host: upstream.host };
  const onward = http.request(
    { host: upstream.hostname, port: upstream.port, path: request.url, method: request.method, headers },
    (answer) => {
      const preflight = request.method === "OPTIONS";
      exchange.status = preflight && answer.statusCode >= 400 ? 204 : answer.statusCode;
      response.writeHead(exchange.status, withCors(answer.headers, request, preflight));
      response.flushHeaders();
      answer.on("data", (chunk) => {
        exchange.chunks.push(performance.now());
        response.write(chunk);
      });
      answer.on("end", () => {
        exchange.endedAt = performance.now();
        response.end();
      });
      answer.on("error", () => response.destroy());
    },
  );
  onward.on("error", () => {
    if (response.headersSent || response.destroyed) return response.destroy();
    response.writeHead(502, withCors({}, request, false)).end();
  });
  response.on("close", () => {
    if (exchange.endedAt === undefined) exchange.closedAt = performance.now();
    onward.destroy();
  });
  onward.end(body);
}

/** The peer's own CORS headers win; what it lacks is added so that a page may talk to it. */
function withCors(headers, request, preflight) {
  const defaults = {
    "access-control-allow-origin": request.headers.origin ?? "*",
    "access-control-expose-headers": EXPOSED,
  };
  if (preflight) {
    defaults["access-control-allow-methods"] = "GET, POST, DELETE";
    defaults["access-control-allow-headers"] = request.headers["access-control-request-headers"] ?? "*";
  }
  return { ...defaults, ...headers };
}

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parse(body) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
