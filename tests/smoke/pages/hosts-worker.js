// A worker that calls a tool and says what came of it.
import { listAndCall } from "./hosts.js";

onmessage = async ({ data: { entry, url, tool } }) => {
  postMessage({ ...(await listAndCall(entry, url, tool, {})), window: typeof window });
};
