/** Put in by the build: the version and the content hash of the installed `sandwire` package. */
declare const PACKAGE: { version: string; hash: string };

declare module "workbench-server/workbench-server.glue.js" {
  /** What the module is instantiated with. */
  export function imports(): WebAssembly.Imports;
  /** Makes the bindings use an instance. */
  export function start(instance: WebAssembly.Instance): unknown;
  /** Serves a port until it closes. */
  export function serve(port: MessagePort): void;
}
