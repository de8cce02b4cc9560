/** Put in by the build: the version and the content hash of the installed `sandwire` package. */
declare const PACKAGE: { version: string; hash: string };

declare module "workbench-server" {
  /** Serves one port until it closes. */
  export function serve(port: MessagePort): void;
}
