/** Runs the built-in server: compiles its module and serves the port the page hands over. */
import { serve } from "workbench-server";

self.addEventListener("message", (event: MessageEvent<{ port?: MessagePort }>) => {
  if (event.data.port) serve(event.data.port);
});
