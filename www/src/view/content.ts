/** Content blocks, resource contents and prompt messages, each shown as what it is. */
import { html, nothing, type TemplateResult } from "lit-html";
import type {
  AudioContent,
  ContentBlock,
  ImageContent,
  PromptMessage,
  ResourceContents,
  ResourceLink,
} from "sandwire/client";
import type { JsonObject } from "../json";
import { readResource } from "../session";
import { state, update } from "../state";
import { size } from "./format";
import { jsonView, valueView } from "./json";

/** A content block; one of a kind the page does not know is shown as JSON. */
export function block(content: ContentBlock): TemplateResult {
  switch (content.type) {
    case "text":
      return text(content.text);
    case "image":
      return html`<figure class="media">
        <img src=${dataUrl(content)} alt="Image, ${content.mimeType}" />
        ${mediaCaption(content)}
      </figure>`;
    case "audio":
      return html`<figure class="media">
        <audio controls src=${dataUrl(content)}></audio>
        ${mediaCaption(content)}
      </figure>`;
    case "resource_link":
      return link(content);
    case "resource":
      return contents(content.resource);
    default:
      return valueView(content);
  }
}

/** Plain text; text that is a JSON object or array is laid out as such. */
function text(value: string): TemplateResult {
  return isJson(value) ? jsonView(value) : html`<p class="text">${value}</p>`;
}

function isJson(value: string): boolean {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function link({ uri, name, title, description }: ResourceLink): TemplateResult {
  return html`<div class="link">
    <div>
      <strong>${title ?? name}</strong>
      <code>${uri}</code>
      ${description ? html`<p class="hint">${description}</p>` : nothing}
    </div>
    <button type="button" class="plain" @click=${() => follow(uri)}>Read</button>
  </div>`;
}

function follow(uri: string): void {
  update({ tab: "resources", selected: { ...state.selected, resources: uri }, pane: "work" });
  readResource(uri);
}

/** The contents of a resource: text, a picture, sound, or a file to save. */
export function contents(value: ResourceContents): TemplateResult {
  const type = value.mimeType ?? "";
  const shown =
    value.text !== undefined
      ? text(value.text)
      : type.startsWith("image/")
        ? html`<img src=${dataUrl({ data: value.blob, mimeType: type })} alt=${value.uri} />`
        : type.startsWith("audio/")
          ? html`<audio controls src=${dataUrl({ data: value.blob, mimeType: type })}></audio>`
          : html`<a class="plain" download href=${dataUrl({ data: value.blob, mimeType: type })}>
              Save ${size(bytes(value.blob))}
            </a>`;
  return html`<figure class="contents">
    <figcaption><code>${value.uri}</code> ${type ? html`<span class="type">${type}</span>` : nothing}</figcaption>
    ${shown}
  </figure>`;
}

/** What came back from a call, whichever of the three kinds it is. */
export function outcome(result: JsonObject): TemplateResult {
  const blocks = (result.content ?? []) as unknown as ContentBlock[];
  const read = (result.contents ?? []) as unknown as ResourceContents[];
  const messages = (result.messages ?? []) as unknown as PromptMessage[];
  const structured = result.structuredContent;
  return html`
    ${blocks.filter((content) => !repeats(content, structured)).map(block)} ${read.map(contents)}
    ${messages.map(
      (message) => html`<div class="message"><span class="role">${message.role}</span>${block(message.content)}</div>`,
    )}
    ${structured === undefined
      ? nothing
      : html`<section class="structured" data-testid="structured">
          <h4>Structured content</h4>
          ${valueView(structured, "Structured content")}
        </section>`}
    ${blocks.length + read.length + messages.length === 0 && structured === undefined
      ? html`<p class="quiet">An empty result.</p>`
      : nothing}
  `;
}

/** Whether a text block only says the structured content again, as servers are asked to do. */
function repeats(content: ContentBlock, structured: unknown): boolean {
  if (structured === undefined || content.type !== "text") return false;
  try {
    return JSON.stringify(JSON.parse(content.text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function mediaCaption(content: ImageContent | AudioContent): TemplateResult {
  return html`<figcaption><span class="type">${content.mimeType}</span> ${size(bytes(content.data))}</figcaption>`;
}

function dataUrl(content: { data?: string | undefined; mimeType?: string | undefined }): string {
  return `data:${content.mimeType || "application/octet-stream"};base64,${content.data ?? ""}`;
}

function bytes(base64: string | undefined): number {
  return Math.floor(((base64 ?? "").replace(/=+$/, "").length * 3) / 4);
}
