/** The protocol's nouns as they stand in JSON. Members that are not named here survive. */

/** A JSON object. */
export type JsonObject = { [key: string]: unknown };

/** Who a client or server is. */
export interface Implementation extends JsonObject {
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: Icon[];
}

export interface Icon extends JsonObject {
  src: string;
  mimeType?: string;
  sizes?: string[];
  theme?: string;
}

export interface Annotations extends JsonObject {
  audience?: Role[];
  priority?: number;
  lastModified?: string;
}

export type Role = "user" | "assistant" | (string & {});

/** What one side can do. Presence of a member means support. */
export interface ClientCapabilities extends JsonObject {
  elicitation?: { form?: JsonObject; url?: JsonObject };
  sampling?: { context?: JsonObject; tools?: JsonObject };
  roots?: { listChanged?: boolean };
  experimental?: JsonObject;
  extensions?: JsonObject;
}

export interface ServerCapabilities extends JsonObject {
  tools?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  prompts?: { listChanged?: boolean };
  completions?: JsonObject;
  logging?: JsonObject;
  experimental?: JsonObject;
  extensions?: JsonObject;
}

/** A JSON Schema whose root describes an object. */
export interface ObjectSchema extends JsonObject {
  type: "object";
  properties?: { [name: string]: JsonObject | boolean };
  required?: string[];
}

export interface ToolAnnotations extends JsonObject {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface Tool extends JsonObject {
  name: string;
  title?: string;
  description?: string;
  inputSchema: ObjectSchema;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  _meta?: JsonObject;
}

export interface TextContent extends JsonObject {
  type: "text";
  text: string;
  annotations?: Annotations;
}

export interface ImageContent extends JsonObject {
  type: "image";
  data: string;
  mimeType: string;
  annotations?: Annotations;
}

export interface AudioContent extends JsonObject {
  type: "audio";
  data: string;
  mimeType: string;
  annotations?: Annotations;
}

export interface ResourceLink extends JsonObject {
  type: "resource_link";
  uri: string;
  name: string;
}

export interface EmbeddedResource extends JsonObject {
  type: "resource";
  resource: ResourceContents;
  annotations?: Annotations;
}

/** A piece of content. Kinds that are not named here arrive as they are. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

export interface ResourceContents extends JsonObject {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
}

export interface Resource extends JsonObject {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  icons?: Icon[];
  annotations?: Annotations;
}

export interface ResourceTemplate extends JsonObject {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
}

export interface PromptArgument extends JsonObject {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

export interface Prompt extends JsonObject {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
}

export interface PromptMessage extends JsonObject {
  role: Role;
  content: ContentBlock;
}

export type LoggingLevel =
  | "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** What every result may have. */
export interface Result extends JsonObject {
  _meta?: JsonObject;
}

/** What every page of a list has. */
export interface Page extends Result {
  nextCursor?: string;
  ttlMs?: number;
  cacheScope?: string;
}

export interface CallToolResult extends Result {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
}

/** A call that goes on after it was answered, in servers with tasks. */
export interface Task extends Result {
  taskId: string;
  status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** How long it is kept, in milliseconds; `null` is for ever. */
  ttlMs: number | null;
  /** How often to ask how it stands, in milliseconds. */
  pollIntervalMs?: number;
  /** What it asks, by the keys of the answers. */
  inputRequests?: { [key: string]: { method: string; params?: JsonObject } };
  result?: CallToolResult;
  error?: { code: number; message: string; data?: unknown };
}

export interface ListToolsResult extends Page { tools: Tool[] }
export interface ListResourcesResult extends Page { resources: Resource[] }
export interface ListResourceTemplatesResult extends Page { resourceTemplates: ResourceTemplate[] }
export interface ListPromptsResult extends Page { prompts: Prompt[] }
export interface ReadResourceResult extends Result { contents: ResourceContents[] }
export interface ListSkillsResult extends Page { skills: Skill[] }

/** A skill: instructions for the model, in a directory of resources. */
export interface Skill extends JsonObject {
  /** The address of its `SKILL.md`. */
  uri: string;
  frontmatter: { name: string; description: string } & JsonObject;
  /** Its files, or `dynamic` where they are made as they are read. */
  resources: SkillResource[] | "dynamic";
}

export interface SkillResource extends JsonObject {
  uri: string;
  /** `sha256:` and 64 lower-case hexadecimal digits. */
  digest: string;
  size: number;
}

export interface GetPromptResult extends Result {
  description?: string;
  messages: PromptMessage[];
}

export interface CompleteResult extends Result {
  completion: { values: string[]; total?: number; hasMore?: boolean };
}

export interface Progress extends JsonObject {
  progress: number;
  total?: number;
  message?: string;
}

export interface ElicitResult extends JsonObject {
  action: "accept" | "decline" | "cancel";
  content?: JsonObject;
}

/** An address that a server wants the user to visit. Open it with consent only. */
export interface UrlElicitation extends JsonObject {
  mode: "url";
  message: string;
  url: string;
  elicitationId?: string;
}

/** What a modern server asks for before it gives a result: see `manualRounds`. It is JSON, and can be kept. */
export interface InputRequired extends Result {
  resultType: "input_required";
  inputRequests?: { [key: string]: { method: string; params?: JsonObject } };
  requestState?: string;
}

export interface CreateMessageResult extends JsonObject {
  role: Role;
  content: ContentBlock | ContentBlock[];
  model: string;
  stopReason?: string;
}

export interface ListRootsResult extends JsonObject {
  roots: { uri: string; name?: string }[];
}

/** What changes a subscription is about. */
export interface SubscriptionFilter extends JsonObject {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
}

/** Parameters by name, besides what the connection writes itself. */
export interface Params extends JsonObject {
  _meta?: JsonObject;
}

export interface CallToolParams extends Params { name: string; arguments?: JsonObject }
export interface PageParams extends Params { cursor?: string }
export interface ReadResourceParams extends Params { uri: string }
export interface GetPromptParams extends Params { name: string; arguments?: { [name: string]: string } }

export interface CompleteParams extends Params {
  ref: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
  argument: { name: string; value: string };
  context?: { arguments?: { [name: string]: string } };
}
