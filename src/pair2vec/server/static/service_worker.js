/**
 * Keeps a page without a server for later, to be used offline. `SITE`, which stands before this
 * script, has the version of the page's files, their addresses, and the caches of this version: the
 * model is put into its own by the engine, when that first reads it.
 */

const scope = new URL("./", self.location);
const prefix = `pair2vec ${scope.pathname}`;
const page = `${prefix}${SITE.version}`;
const current = [page, ...SITE.caches.map((name) => prefix + name)];

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(page);
    await cache.addAll(SITE.files.map((file) => new Request(new URL(file, scope), { cache: "no-cache" })));
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const clear = async () => {
    const ours = (await caches.keys()).filter((name) => name.startsWith(prefix));
    await Promise.all(ours.filter((name) => !current.includes(name)).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(clear());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const isOurs = request.method === "GET" && request.url.startsWith(scope.href);
  if (isOurs) event.respondWith(request.mode === "navigate" ? newest(request) : kept(request));
});

/** The page itself as it is now; as it was kept where there is no network. */
async function newest(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await caches.match(scope.href);
    if (found) return found;
    throw error;
  }
}

/** What is versioned by its address never changes. */
async function kept(request) {
  return (await caches.match(request)) ?? fetch(request);
}
