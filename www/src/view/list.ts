/** The left side: what the server offers. */
import { html, nothing, type TemplateResult } from "lit-html";
import { state, update, type Tab } from "../state";

interface Entry {
  id: string;
  name: string;
  note: string;
}

const TABS: { tab: Tab; label: string }[] = [
  { tab: "tools", label: "Tools" },
  { tab: "resources", label: "Resources" },
  { tab: "prompts", label: "Prompts" },
];

/** The tabs, the filter and the entries of the chosen tab. */
export function list(): TemplateResult {
  const entries = entriesOf(state.tab);
  const wanted = state.filter.trim().toLowerCase();
  const shown = entries.filter((entry) => `${entry.name} ${entry.note}`.toLowerCase().includes(wanted));
  return html`<nav class="list pane" data-pane="list" aria-label="What the server offers">
    <div class="tabs" role="tablist" @keydown=${moveTab}>
      ${TABS.map(
        ({ tab, label }) => html`<button
          type="button"
          role="tab"
          aria-selected=${state.tab === tab}
          tabindex=${state.tab === tab ? 0 : -1}
          data-testid="tab-${tab}"
          @click=${() => update({ tab, filter: "" })}
        >
          ${label} <span class="count">${entriesOf(tab).length}</span>
        </button>`,
      )}
    </div>
    ${entries.length > 6
      ? html`<input
          type="search"
          class="filter"
          placeholder="Filter"
          aria-label="Filter ${state.tab}"
          .value=${state.filter}
          @input=${(event: Event) => update({ filter: (event.target as HTMLInputElement).value })}
        />`
      : nothing}
    <ul data-testid="list-${state.tab}">
      ${shown.map(item)}
    </ul>
    ${entries.length === 0 ? html`<p class="quiet">The server offers no ${state.tab}.</p>` : nothing}
    ${entries.length > 0 && shown.length === 0 ? html`<p class="quiet">Nothing matches “${state.filter}”.</p>` : nothing}
  </nav>`;
}

function item(entry: Entry): TemplateResult {
  const chosen = state.selected[state.tab] === entry.id;
  return html`<li>
    <button
      type="button"
      aria-current=${chosen ? "true" : "false"}
      data-testid="entry"
      data-entry=${entry.id}
      @click=${() => update({ selected: { ...state.selected, [state.tab]: entry.id }, pane: "work" })}
    >
      <span class="name">${entry.name}</span>
      ${entry.note ? html`<span class="note">${entry.note}</span>` : nothing}
    </button>
  </li>`;
}

function entriesOf(tab: Tab): Entry[] {
  switch (tab) {
    case "tools":
      return state.tools.map((tool) => ({ id: tool.name, name: tool.name, note: tool.description ?? tool.title ?? "" }));
    case "resources":
      return [
        ...state.resources.map(({ uri, name, description }) => ({ id: uri, name, note: description ?? uri })),
        ...state.templates.map(({ uriTemplate, name }) => ({ id: uriTemplate, name, note: uriTemplate })),
      ];
    case "prompts":
      return state.prompts.map(({ name, description }) => ({ id: name, name, note: description ?? "" }));
  }
}

function moveTab(event: KeyboardEvent): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  const index = TABS.findIndex(({ tab }) => tab === state.tab) + step;
  const next = TABS[(index + TABS.length) % TABS.length];
  if (!next) return;
  update({ tab: next.tab, filter: "" });
  const bar = event.currentTarget as HTMLElement;
  queueMicrotask(() => bar.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
}
