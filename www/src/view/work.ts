/** The middle: the chosen tool, resource or prompt, its form and its calls. */
import { html, nothing, type TemplateResult } from "lit-html";
import { draftOf, preparedOf, switchMode } from "../drafts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "sandwire/client";
import type { Schema } from "../json";
import { callTool, getPrompt, readResource } from "../session";
import { changed, state, type Draft } from "../state";
import { expand, variablesOf } from "../template";
import { asks } from "./asks";
import { problems, rootFields } from "./fields";
import { runsOf } from "./runs";
import { valueView } from "./json";

/** Whatever the list has chosen. */
export function work(): TemplateResult {
  return html`<main class="work pane" data-pane="work" id="work">${asks()} ${chosen()}</main>`;
}

function chosen(): TemplateResult {
  const id = state.selected[state.tab];
  switch (state.tab) {
    case "tools": {
      const tool = state.tools.find(({ name }) => name === id);
      return tool ? toolView(tool) : nothingChosen();
    }
    case "resources": {
      const template = state.templates.find(({ uriTemplate }) => uriTemplate === id);
      if (template) return templateView(template);
      const resource = state.resources.find(({ uri }) => uri === id);
      return resource ?? id ? resourceView(resource ?? { uri: id ?? "", name: id ?? "" }) : nothingChosen();
    }
    case "prompts": {
      const prompt = state.prompts.find(({ name }) => name === id);
      return prompt ? promptView(prompt) : nothingChosen();
    }
  }
}

function nothingChosen(): TemplateResult {
  const instructions = state.peer?.instructions;
  return html`<div class="blank">
    ${instructions ? html`<p class="text">${instructions}</p>` : html`<p class="quiet">Choose an entry from the list.</p>`}
  </div>`;
}

function toolView(tool: Tool): TemplateResult {
  const draft = draftOf(`tool:${tool.name}`, tool.inputSchema as Schema);
  const send = () => {
    const args = preparedOf(draft);
    if (args) callTool(tool.name, args);
  };
  return html`
    ${heading(tool.name, tool.title ?? tool.annotations?.title, tool.description, marks(tool))}
    ${argumentsForm(draft, "Call", send)}
    ${runsOf(`tool:${tool.name}`)}
    <details class="schema">
      <summary>Input schema${tool.outputSchema ? " and output schema" : ""}</summary>
      ${valueView(tool.inputSchema, "Input schema")}
      ${tool.outputSchema ? valueView(tool.outputSchema, "Output schema") : nothing}
    </details>
  `;
}

function resourceView(resource: Resource): TemplateResult {
  return html`
    ${heading(resource.name, resource.title, resource.description, [resource.mimeType ?? ""])}
    <p class="uri"><code>${resource.uri}</code></p>
    <div class="actions">
      <button type="button" class="primary" data-testid="call" @click=${() => readResource(resource.uri)}>Read</button>
    </div>
    ${runsOf(`resource:${resource.uri}`)}
  `;
}

function templateView(template: ResourceTemplate): TemplateResult {
  const names = variablesOf(template.uriTemplate);
  const draft = draftOf(`template:${template.uriTemplate}`, textFields(names.map((name) => ({ name, required: true }))));
  const send = () => {
    const values = preparedOf(draft);
    if (values) readResource(expand(template.uriTemplate, values), template.uriTemplate);
  };
  return html`
    ${heading(template.name, template.title, template.description, [template.mimeType ?? ""])}
    <p class="uri"><code>${template.uriTemplate}</code></p>
    ${argumentsForm(draft, "Read", send)} ${runsOf(`resource:${template.uriTemplate}`)}
  `;
}

function promptView(prompt: Prompt): TemplateResult {
  const draft = draftOf(`prompt:${prompt.name}`, textFields(prompt.arguments ?? []));
  const send = () => {
    const values = preparedOf(draft);
    if (values) getPrompt(prompt.name, values as Record<string, string>);
  };
  return html`
    ${heading(prompt.name, prompt.title, prompt.description, [])} ${argumentsForm(draft, "Get", send)}
    ${runsOf(`prompt:${prompt.name}`)}
  `;
}

function textFields(fields: { name: string; description?: string; required?: boolean }[]): Schema {
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map(({ name, description }) => [name, { type: "string", ...(description ? { description } : {}) }]),
    ),
    required: fields.filter((field) => field.required).map((field) => field.name),
  };
}

function heading(name: string, title: string | undefined, description: string | undefined, tags: string[]): TemplateResult {
  return html`<header class="heading">
    <h1 data-testid="chosen">${name}</h1>
    ${title && title !== name ? html`<p class="title">${title}</p>` : nothing}
    ${tags.filter(Boolean).map((tag) => html`<span class="tag">${tag}</span>`)}
    ${description ? html`<p class="text">${description}</p>` : nothing}
  </header>`;
}

function marks(tool: Tool): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint } = tool.annotations ?? {};
  return [
    readOnlyHint ? "read-only" : "",
    destructiveHint && !readOnlyHint ? "destructive" : "",
    idempotentHint && !readOnlyHint ? "idempotent" : "",
  ];
}

function argumentsForm(draft: Draft, verb: string, send: () => void): TemplateResult {
  const submit = (event: Event) => {
    event.preventDefault();
    send();
  };
  const asJson = draft.mode === "json";
  return html`<form class="arguments" data-testid="arguments" novalidate @submit=${submit} @keydown=${sendOnCtrlEnter(send)}>
    ${asJson
      ? html`<textarea
          class="mono"
          rows="8"
          spellcheck="false"
          aria-label="Arguments as JSON"
          data-testid="json"
          .value=${draft.text}
          @input=${(event: Event) => {
            draft.text = (event.target as HTMLTextAreaElement).value;
            changed();
          }}
        ></textarea>`
      : rootFields(draft.form)}
    ${problems(draft)}
    <div class="actions">
      <button class="primary" data-testid="call">${verb}</button>
      <kbd>Ctrl ↵</kbd>
      <button type="button" class="plain end" data-testid="mode" @click=${() => switchMode(draft)}>
        ${asJson ? "Edit as a form" : "Edit as JSON"}
      </button>
    </div>
  </form>`;
}

function sendOnCtrlEnter(send: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send();
  };
}

