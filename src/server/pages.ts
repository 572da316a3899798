/**
 * The two pages: GraphiQL for whoever is signed in, and the small one that signs in. Both come from this server alone.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { EXAMPLES } from './examples.ts';

/** GraphiQL writes its own scripts and styles into the page; nothing may come from, or go to, another host. */
export const GRAPHIQL_POLICY =
  "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: 'self'; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
export const SIGN_IN_POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page, compressed once: 9 MB as text. */
export async function graphiqlPage(endpoint: string): Promise<Buffer> {
  const html = renderGraphiQL({
    title: 'Caduceus',
    endpoint,
    subscriptionsProtocol: 'WS',
    // The cookie of the page authenticates; the header says that the page itself sent the request.
    additionalHeaders: { 'x-graphql-yoga-csrf': '1' },
    shouldPersistHeaders: false,
    defaultTabs: EXAMPLES.map((query) => ({ query })),
    defaultQuery: EXAMPLES[0] ?? '',
    // Not in the type: without a query to begin with, a page that is loaded again opens an empty tab.
    ...({ query: EXAMPLES[0] } as object),
    favicon: FAVICON,
  });
  return promisify(gzip)(html.replace('</head>', () => `${FORGET_TOKEN}${NARROW_SCREENS}</head>`));
}

/**
 * Who is signed in already and opens the printed address comes here at once: the token leaves the address bar before GraphiQL sees it, and
 * the document as well, which remembers the address it was loaded from. An address that is opened in this tab may be that of a server which
 * was started anew: loading again signs in there.
 */
const FORGET_TOKEN = `<script>
if (location.hash.startsWith('#token=')) {
  history.replaceState(null, '', location.pathname + location.search);
  location.reload();
}
addEventListener('hashchange', () => { if (location.hash.startsWith('#token=')) location.reload(); });
</script>`;

/** GraphiQL puts query and result side by side; on a phone they go below each other. */
const NARROW_SCREENS = `<meta name="viewport" content="width=device-width, initial-scale=1"><style>
@media (max-width: 720px) {
  .graphiql-container .graphiql-sidebar { width: 44px; }
  .graphiql-container .graphiql-logo { display: none; }
  .graphiql-container .graphiql-main { min-width: 0; }
  .graphiql-container .graphiql-sessions { margin: 8px 8px 8px 0; min-width: 0; }
  .graphiql-container #graphiql-session { flex-direction: column; padding: 0 8px 8px; }
  .graphiql-container .graphiql-horizontal-drag-bar { display: none; }
  .graphiql-container .graphiql-response { padding-top: 8px; }
}
</style>`;

const FAVICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath d='M16 3v26M8 7c0 6 16 6 16 12s-16 4-16 9M24 7c0 6-16 6-16 12s16 4 16 9' fill='none' stroke='%23b8860b' stroke-width='3' stroke-linecap='round'/%3E%3C/svg%3E";

/**
 * Takes the token out of the address (the part behind #, which browsers send to nobody), trades it for a cookie, and goes to GraphiQL;
 * without one it asks. Contains nothing of the store and no secret.
 */
export const SIGN_IN_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Caduceus</title>
<style>
:root { color-scheme: light dark; --ink: #1c1a17; --paper: #faf8f4; --line: #978e7e; --accent: #8a6410; --soft: #6b655a; --error: #a3271f; }
@media (prefers-color-scheme: dark) { :root { --ink: #ece8e1; --paper: #171614; --line: #6f6a61; --accent: #e0b252; --soft: #a39c90; --error: #ff9a8f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; padding: 24px; }
main { width: 100%; max-width: 26rem; }
h1 { font-size: 1.5rem; font-weight: 650; margin: 0 0 .25rem; letter-spacing: -.01em; }
p { margin: 0 0 1.25rem; color: var(--soft); }
label { display: block; font-weight: 600; margin-bottom: .35rem; }
input, button { font: inherit; width: 100%; padding: .7rem .8rem; border-radius: 8px; border: 1px solid var(--line); background: transparent; color: inherit; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button { margin-top: 1rem; background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 650; cursor: pointer; }
[role=alert] { color: var(--error); min-height: 1.5em; margin: .75rem 0 0; }
code { font-size: .92em; }
</style>
</head>
<body>
<main>
<h1>Caduceus</h1>
<p id="lead">Your sessions are private. Open the address that the server printed, or paste the token; it lies in the file <code>token</code> of the server's state folder.</p>
<form>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" autofocus required>
<button>Open GraphiQL</button>
<p role="alert" id="problem"></p>
</form>
</main>
<script>
const field = document.getElementById('token');
const problem = document.getElementById('problem');
const WRONG = 'That is not the token of this server.';
async function signIn(token) {
  problem.textContent = '';
  // What no token has can't be sent in a header either.
  if (!/^[!-~]+$/.test(token)) return void (problem.textContent = WRONG);
  try {
    const response = await fetch('/sign-in', { method: 'POST', headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' }, body: '{}' });
    if (response.ok) location.replace('/');
    else problem.textContent = response.status === 401 ? WRONG : 'The server refused: ' + response.status + '.';
  } catch {
    problem.textContent = 'The server did not answer. Is it still running?';
  }
}
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', '/');
  if (given) signIn(given);
}
takeToken();
// The printed address, opened in this tab, loads nothing: only what stands behind # is new.
addEventListener('hashchange', takeToken);
document.querySelector('form').addEventListener('submit', (event) => { event.preventDefault(); signIn(field.value.trim()); });
</script>
</body>
</html>
`;
