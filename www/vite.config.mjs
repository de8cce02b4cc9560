import { readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "vite";
import { hashOfFolder } from "./content-hash.mjs";
import { offline } from "./offline/plugin.mjs";

const PACKAGE = path.resolve("node_modules/sandwire");
const SERVER = process.env.WORKBENCH_SERVER;
if (!SERVER) throw new Error("WORKBENCH_SERVER names no folder; build with: node www/build.mjs");

// Scripts and styles from the page's own origin, WebAssembly without eval, and any server the user names.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "media-src data:",
  "connect-src *",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export default defineConfig({
  base: "./",
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  resolve: { alias: { "workbench-server": path.resolve(SERVER) } },
  server: { fs: { allow: [".", SERVER] } },
  define: {
    PACKAGE: JSON.stringify({
      version: JSON.parse(readFileSync(path.join(PACKAGE, "package.json"), "utf8")).version,
      hash: hashOfFolder(PACKAGE),
    }),
  },
  plugins: [
    offline(["icon.svg"]),
    {
      name: "content-security-policy",
      apply: "build",
      transformIndexHtml: () => [
        {
          tag: "meta",
          attrs: { "http-equiv": "Content-Security-Policy", content: POLICY },
          injectTo: "head-prepend",
        },
      ],
    },
  ],
});
