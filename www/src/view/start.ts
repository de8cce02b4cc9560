/** Before there is a connection: where to connect to. */
import { html, nothing, type TemplateResult } from "lit-html";
import { BUILTIN, connectBuiltin, connectUrl, disconnect } from "../session";
import { changed, state } from "../state";
import { wire } from "./wire";

const knot = (kind: string, name: string, detail: string) =>
  html`<li class=${kind}><span class="arrow"></span><b>${name}</b> <span>${detail}</span></li>`;

const sample = html`<ol class="sample" aria-hidden="true">
  ${knot("out is-request", "tools/call", "count to 3")} ${knot("in", "progress", "1 / 3")}
  ${knot("in", "progress", "2 / 3")} ${knot("in", "progress", "3 / 3")} ${knot("in is-result", "result", "“Counted to 3.”")}
</ol>`;

/** The two ways to begin, and what went wrong last time. */
export function start(): TemplateResult {
  const busy = state.phase === "connecting";
  return html`<main class="start">
    <div class="intro">
      <div>
        <h1>See what an MCP server does, and what it says.</h1>
        <p>Connect, call its tools with real arguments, watch progress arrive, and read every message on the wire.</p>
      </div>
      ${sample}
    </div>
    ${state.failure
      ? html`<div class="error" role="alert" data-testid="failure">
          <p>Could not connect to <code>${state.where}</code>: ${state.failure.message}.</p>
        </div>`
      : nothing}
    ${busy ? connecting() : html`<div class="ways">${byUrl()} ${builtin()}</div>`}
    ${state.wire.length > 0 ? wire() : nothing}
  </main>`;
}

function connecting(): TemplateResult {
  return html`<div class="connecting" role="status" data-testid="connecting">
    <progress aria-label="Connecting"></progress>
    <p>Connecting to <code>${state.where}</code></p>
    <button type="button" class="plain" @click=${() => void disconnect()}>Stop</button>
  </div>`;
}

function byUrl(): TemplateResult {
  const connect = (event: Event) => {
    event.preventDefault();
    if (state.target.url.trim() !== "") void connectUrl();
  };
  return html`<form class="way" @submit=${connect}>
    <h2>A server on the network</h2>
    <label for="url">Address</label>
    <div class="together">
      <input
        id="url"
        type="url"
        required
        spellcheck="false"
        placeholder="https://example.com/mcp"
        data-testid="url"
        .value=${state.target.url}
        @input=${(event: Event) => {
          state.target.url = (event.target as HTMLInputElement).value;
          changed();
        }}
      />
      <button class="primary" data-testid="connect">Connect</button>
    </div>
    ${headers()}
    <p class="hint">Streamable HTTP. The server has to allow this page's origin (CORS).</p>
  </form>`;
}

function headers(): TemplateResult {
  const { headers } = state.target;
  return html`<div class="headers">
    ${headers.map(
      (header, index) => html`<div class="together">
        <input
          class="mono"
          aria-label="Header name"
          placeholder="Authorization"
          data-testid="header-name"
          .value=${header.name}
          @input=${(event: Event) => void (header.name = (event.target as HTMLInputElement).value)}
        />
        <input
          class="mono"
          aria-label="Header value"
          placeholder="Bearer …"
          data-testid="header-value"
          .value=${header.value}
          @input=${(event: Event) => void (header.value = (event.target as HTMLInputElement).value)}
        />
        <button
          type="button"
          class="plain"
          aria-label="Remove the header"
          @click=${() => {
            headers.splice(index, 1);
            changed();
          }}
        >
          Remove
        </button>
      </div>`,
    )}
    <button
      type="button"
      class="plain"
      data-testid="add-header"
      @click=${() => {
        headers.push({ name: "", value: "" });
        changed();
      }}
    >
      Add a header
    </button>
  </div>`;
}

function builtin(): TemplateResult {
  return html`<section class="way">
    <h2>The ${BUILTIN}</h2>
    <p>A Rust server compiled to WebAssembly, running in a worker of this page. It needs no network.</p>
    <button type="button" class="primary" data-testid="connect-builtin" @click=${() => void connectBuiltin()}>
      Start the built-in server
    </button>
  </section>`;
}
