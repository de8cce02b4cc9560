import { render } from "lit-html";
import "./style/fonts.css";
import "./style/base.css";
import "./style/bench.css";
import "./style/start.css";
import "./style/work.css";
import "./style/wire.css";
import { onChange, state } from "./state";
import { app } from "./view/app";

const root = document.getElementById("app");
if (root) {
  const draw = () => {
    render(app(), root);
    document.title = state.peer ? `${state.peer.title ?? state.peer.name}, Sandwire workbench` : "Sandwire workbench";
  };
  onChange(draw);
  draw();
}

// Where there is no service worker, the page works as long as it stays loaded.
if (import.meta.env.PROD) navigator.serviceWorker?.register("./offline.js").catch(() => {});
