/** The right side: every raw message, both ways. */
import { html, nothing, type TemplateResult } from "lit-html";
import { ref } from "lit-html/directives/ref.js";
import { repeat } from "lit-html/directives/repeat.js";
import { changed, state, update } from "../state";
import type { WireEntry } from "../wire";
import { moment, size, span } from "./format";
import { jsonView } from "./json";

/** The log of messages with its filter. */
export function wire(): TemplateResult {
  const wanted = state.wireFilter.trim().toLowerCase();
  const shown = wanted === "" ? state.wire : state.wire.filter((entry) => entry.text.toLowerCase().includes(wanted));
  return html`<aside class="wire pane" data-pane="wire" aria-label="Messages on the wire">
    <header>
      <h2>Wire</h2>
      <span class="count" data-testid="wire-count">${state.wire.length}</span>
      <input
        type="search"
        class="filter"
        placeholder="Filter messages"
        aria-label="Filter messages"
        .value=${state.wireFilter}
        @input=${(event: Event) => update({ wireFilter: (event.target as HTMLInputElement).value })}
      />
      <button type="button" class="plain" ?disabled=${state.wire.length === 0} @click=${() => update({ wire: [] })}>
        Clear
      </button>
    </header>
    ${state.wire.length === 0
      ? html`<p class="quiet">Every message of the connection appears here, as it crossed the wire.</p>`
      : html`<ol class="messages" data-testid="wire" ${ref(follow)}>
          ${repeat(shown, (entry) => entry.key, line)}
        </ol>`}
  </aside>`;
}

/** Keeps the newest message in sight as long as the reader has not scrolled away from the end. */
function follow(element: Element | undefined): void {
  if (!element) return;
  let atEnd = true;
  element.addEventListener("scroll", () => {
    atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 24;
  });
  new MutationObserver((changes) => {
    const added = changes.some(({ target }) => target === element);
    if (added && atEnd) element.scrollTop = element.scrollHeight;
  }).observe(element, { childList: true });
}

function line(entry: WireEntry): TemplateResult {
  const out = entry.direction === "out";
  return html`<li class="${entry.direction} is-${entry.kind}" data-testid="wire-entry" data-direction=${entry.direction}>
    <details
      .open=${entry.open}
      @toggle=${(event: Event) => {
        const { open } = event.target as HTMLDetailsElement;
        if (open === entry.open) return;
        entry.open = open;
        changed();
      }}
    >
      <summary>
        <span class="arrow" aria-label=${out ? "sent" : "received"}></span>
        <span class="method">${entry.label}</span>
        <span class="kind">${entry.kind}${entry.id === undefined ? "" : ` ${entry.id}`}</span>
        <span class="facts">
          ${entry.after === undefined ? nothing : html`<span>${span(entry.after)}</span>`}
          <span>${size(entry.text.length)}</span>
          <time>${moment(entry.at - state.wireStart)}</time>
        </span>
      </summary>
      ${entry.open ? body(entry) : nothing}
    </details>
  </li>`;
}

function body(entry: WireEntry): TemplateResult {
  return html`<div class="body">
    ${jsonView(entry.text, `${entry.label} ${entry.kind}`)}
    <button type="button" class="plain" @click=${() => void navigator.clipboard?.writeText(entry.text)}>
      Copy as sent
    </button>
  </div>`;
}
