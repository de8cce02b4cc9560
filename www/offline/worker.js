// Keeps the page's own files, so that it starts without a network. The network comes first, so a newer build is
// never hidden by an older one. The build puts `VERSION` and `FILES` (addresses relative to this script) in front.
const kept = new Set(FILES.map((file) => new URL(file, self.location).href));

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll([...kept])));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  event.waitUntil(takeOver());
});

self.addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && kept.has(event.request.url)) event.respondWith(answer(event.request));
});

async function takeOver() {
  for (const name of await caches.keys()) {
    if (name.startsWith("workbench-") && name !== VERSION) await caches.delete(name);
  }
  await self.clients.claim();
}

async function answer(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await caches.match(request.url);
    if (found) return found;
    throw error;
  }
}
