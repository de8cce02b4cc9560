import type { ClientGlue } from "./connection.js";

export declare const imports: ClientGlue["imports"];
export declare const start: ClientGlue["start"];
export declare const Settings: ClientGlue["Settings"];
export declare const Connection: ClientGlue["Connection"];
