/** The whole page: the bar on top, then either the start or the bench. */
import { html, nothing, type TemplateResult } from "lit-html";
import { disconnect } from "../session";
import { state, update, type Pane } from "../state";
import { list } from "./list";
import { start } from "./start";
import { wire } from "./wire";
import { work } from "./work";

/** The page for the current state. */
export function app(): TemplateResult {
  return html`${bar()}
  ${state.phase === "connected"
    ? html`<div class="bench" data-show=${state.pane}>${list()} ${work()} ${wire()}</div>
        ${panes()}`
    : start()}
  ${foot()}`;
}

function bar(): TemplateResult {
  return html`<header class="bar">
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <path d="M8 11h9a5 5 0 0 1 0 10H15" />
        <circle class="out" cx="8" cy="11" r="3.2" />
        <circle class="in" cx="12" cy="21" r="3.2" />
      </svg>
      sandwire
    </span>
    ${peer()}
  </header>`;
}

function peer(): unknown {
  const { peer } = state;
  if (state.phase !== "connected" || !peer) return nothing;
  return html`<div class="peer" data-testid="peer">
      <strong data-testid="server-name">${peer.title ?? peer.name}</strong>
      <span class="quiet" data-testid="server-version">${peer.version}</span>
      <span class="tag" data-testid="protocol-version">${peer.protocolVersion}</span>
      <span class="tag" data-testid="era" title="The era of the protocol that was negotiated">${peer.era}</span>
      <button type="button" class="plain" popovertarget="about" data-testid="capabilities">
        ${peer.capabilities.size} capabilities
      </button>
      <div id="about" class="about" popover>
        <code>${state.where}</code>
        <dl>
          ${[...peer.capabilities].map(
            ([name, settings]) => html`<dt><code>${name}</code></dt>
              <dd>${settings.join(", ")}</dd>`,
          )}
        </dl>
        ${peer.instructions ? html`<p class="text">${peer.instructions}</p>` : nothing}
      </div>
    </div>
    <button type="button" class="plain" data-testid="disconnect" @click=${() => void disconnect()}>Disconnect</button>`;
}

const PANES: { pane: Pane; label: string }[] = [
  { pane: "list", label: "Offers" },
  { pane: "work", label: "Call" },
  { pane: "wire", label: "Wire" },
];

function panes(): TemplateResult {
  return html`<nav class="panes" aria-label="Parts of the page">
    ${PANES.map(
      ({ pane, label }) =>
        html`<button type="button" aria-pressed=${state.pane === pane} @click=${() => update({ pane })}>${label}</button>`,
    )}
  </nav>`;
}

function foot(): TemplateResult {
  return html`<footer class="foot">
    <span>sandwire ${PACKAGE.version}</span>
    <span title="SHA-256 over the files of the package this page was built from">
      content <code data-testid="package-hash" data-hash=${PACKAGE.hash}>${PACKAGE.hash.slice(0, 12)}</code>
    </span>
  </footer>`;
}
