import type { ServerGlue } from "./host.js";

export declare const imports: ServerGlue["imports"];
export declare const start: ServerGlue["start"];
export declare const Host: ServerGlue["Host"];
