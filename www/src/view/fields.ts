/** The inputs of a form. Each field writes into its node and asks for a new rendering. */
import { html, nothing, type TemplateResult } from "lit-html";
import { removeItem, type ArrayNode, type FormNode, type ObjectNode, type TextNode } from "../schema/form";
import { changed, type Draft } from "../state";

/** The fields of a root node, without a frame around them. */
export function rootFields(node: FormNode): TemplateResult {
  if (node.kind !== "object") return field(node);
  if (node.children.length === 0) return html`<p class="quiet">Takes no arguments.</p>`;
  return html`<div class="fields">${node.children.map(field)}</div>`;
}

/** What keeps a draft from being sent. */
export function problems(draft: Draft): unknown {
  if (draft.problems.length === 0) return nothing;
  return html`<ul class="problems" role="alert" data-testid="problems">
    ${draft.problems.map((problem) => html`<li>${problem}</li>`)}
  </ul>`;
}

function field(node: FormNode): TemplateResult {
  switch (node.kind) {
    case "object":
      return group(node, objectBody(node), node.required ? nothing : include(node));
    case "array":
      return group(node, arrayBody(node), nothing);
    case "many":
      return group(node, manyBody(node), nothing);
    case "boolean":
      return group(node, booleanBody(node), nothing);
    default:
      return html`<div class="field" data-testid=${testId(node)}>
        <label for=${inputId(node)}>${caption(node)}</label>
        ${control(node)} ${hint(node)}
      </div>`;
  }
}

function group(node: FormNode, body: unknown, beside: unknown): TemplateResult {
  return html`<fieldset class="field ${node.kind}" data-testid=${testId(node)}>
    <legend>${caption(node)} ${beside}</legend>
    ${hint(node)} ${body}
  </fieldset>`;
}

function caption(node: FormNode): TemplateResult {
  const type = node.kind === "choice" || node.kind === "many" ? "choice" : node.kind === "json" ? "JSON" : node.kind;
  const { title } = node.schema;
  const item = /^\d+$/.test(node.name);
  return html`<span class="name">${item ? `item ${Number(node.name) + 1}` : node.name}</span>
    ${node.required && !item ? html`<span class="required">required</span>` : nothing}
    <span class="type">${type}</span>
    ${title && title !== node.name ? html`<span class="title">${title}</span>` : nothing}`;
}

function hint(node: FormNode): unknown {
  const { description } = node.schema;
  return description ? html`<p class="hint" id=${hintId(node)}>${description}</p>` : nothing;
}

function control(node: Exclude<FormNode, { kind: "object" | "array" | "many" | "boolean" }>): TemplateResult {
  switch (node.kind) {
    case "string":
      return textControl(node);
    case "number":
    case "integer":
      return html`<input
        id=${inputId(node)}
        aria-describedby=${described(node)}
        class="mono"
        inputmode=${node.kind === "integer" ? "numeric" : "decimal"}
        autocomplete="off"
        placeholder=${bounds(node.schema.minimum, node.schema.maximum)}
        .value=${node.text}
        @input=${write(node)}
      />`;
    case "choice":
      return html`<select
        id=${inputId(node)}
        aria-describedby=${described(node)}
        @change=${(event: Event) => {
          node.index = Number((event.target as HTMLSelectElement).value);
          changed();
        }}
      >
        <option value="-1" ?selected=${node.index < 0}>${node.required ? "choose…" : "not set"}</option>
        ${node.choices.map(
          (choice, index) => html`<option value=${index} ?selected=${node.index === index}>${choice.label}</option>`,
        )}
      </select>`;
    case "json":
      return html`<textarea
        id=${inputId(node)}
        aria-describedby=${described(node)}
        class="mono"
        rows="3"
        spellcheck="false"
        placeholder="any JSON"
        .value=${node.text}
        @input=${write(node)}
      ></textarea>`;
  }
}

const INPUT_TYPES: Record<string, string> = { email: "email", uri: "url", date: "date" };

function textControl(node: TextNode): TemplateResult {
  const { format, maxLength, examples } = node.schema;
  const example = typeof examples?.[0] === "string" ? examples[0] : "";
  if ((maxLength ?? 0) > 200 || node.text.includes("\n")) {
    return html`<textarea
      id=${inputId(node)}
      aria-describedby=${described(node)}
      rows="4"
      .value=${node.text}
      @input=${write(node)}
    ></textarea>`;
  }
  return html`<input
    id=${inputId(node)}
    aria-describedby=${described(node)}
    type=${INPUT_TYPES[format ?? ""] ?? "text"}
    autocomplete="off"
    spellcheck="false"
    placeholder=${example}
    .value=${node.text}
    @input=${write(node)}
  />`;
}

function write(node: { text: string }): (event: Event) => void {
  return (event) => {
    node.text = (event.target as HTMLInputElement | HTMLTextAreaElement).value;
    changed();
  };
}

function booleanBody(node: FormNode & { kind: "boolean" }): TemplateResult {
  const values = node.required ? [true, false] : [undefined, true, false];
  return html`<div class="segments" role="radiogroup" aria-label=${node.name}>
    ${values.map(
      (value) => html`<label>
        <input
          type="radio"
          name=${inputId(node)}
          .checked=${node.value === value}
          @change=${() => {
            node.value = value;
            changed();
          }}
        /><span>${value === undefined ? "not set" : String(value)}</span>
      </label>`,
    )}
  </div>`;
}

function manyBody(node: FormNode & { kind: "many" }): TemplateResult {
  return html`<div class="checks">
    ${node.choices.map(
      (choice, index) => html`<label>
        <input
          type="checkbox"
          .checked=${node.picked.has(index)}
          @change=${() => {
            if (!node.picked.delete(index)) node.picked.add(index);
            changed();
          }}
        /><span>${choice.label}</span>
      </label>`,
    )}
  </div>`;
}

function arrayBody(node: ArrayNode): TemplateResult {
  return html`<div class="items">
    ${node.items.map(
      (item) => html`<div class="item">
        ${field(item)}
        <button
          type="button"
          class="plain"
          aria-label="Remove ${item.path}"
          @click=${() => {
            removeItem(node, item);
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
      data-testid="add-${node.path}"
      @click=${() => {
        node.add();
        changed();
      }}
    >
      Add an item
    </button>
  </div>`;
}

function objectBody(node: ObjectNode): unknown {
  return node.included ? html`<div class="fields">${node.children.map(field)}</div>` : nothing;
}

function include(node: ObjectNode): TemplateResult {
  return html`<label class="include">
    <input
      type="checkbox"
      .checked=${node.included}
      @change=${() => {
        node.included = !node.included;
        changed();
      }}
    />include
  </label>`;
}

function bounds(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? "" : `at most ${most}`;
}

function inputId(node: FormNode): string {
  return `field-${node.id}`;
}

function hintId(node: FormNode): string {
  return `${inputId(node)}-hint`;
}

function described(node: FormNode): unknown {
  return node.schema.description ? hintId(node) : nothing;
}

function testId(node: FormNode): string {
  return `field-${node.path}`;
}
