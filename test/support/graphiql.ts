/** What a person does in GraphiQL. */
import type { Page } from 'playwright-core';
import type { TestServer } from './server.ts';

/** The address as the server prints it at its start. */
export function printedAddress(server: TestServer): string {
  return `${server.url}#token=${encodeURIComponent(server.token)}`;
}

/** The page is GraphiQL's. Its program may still be loading. */
export async function isGraphiql(page: Page): Promise<void> {
  await page.locator('#root').waitFor({ state: 'attached' });
}

/** Both editors stand, and the schema is known: before that the button does nothing. */
export async function isReady(page: Page): Promise<void> {
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.locator('.graphiql-response .monaco-editor').first().waitFor();
  await page.locator('.graphiql-spinner').waitFor({ state: 'detached' });
}

/** Signs the page's browser in, as the sign-in page does it. */
export async function signIn(page: Page, server: TestServer): Promise<void> {
  await page.request.post(new URL('/sign-in', server.url).href, { headers: server.headers, data: '{}' });
}

const OPERATION_FOUND_MS = 2000;

/** Signed in, with GraphiQL ready. */
export async function openSignedIn(page: Page, server: TestServer): Promise<void> {
  await signIn(page, server);
  await page.goto(server.url);
  await isReady(page);
}

export async function chooseTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name }).getByRole('button', { name, exact: true }).click();
  // The editor follows a moment later; until then the button runs the query of the tab before.
  await page.locator('.graphiql-query-editor .view-lines', { hasText: name }).waitFor();
  // Which operation it holds is found out later still, with nothing to see; until then the button asks for that of the tab before.
  await page.waitForTimeout(OPERATION_FOUND_MS);
}

export async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Execute query/ }).click();
}

export async function stop(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Stop query/ }).click();
}

/** Waits until the result holds the text. The editor writes spaces of a kind of its own, which \s matches. */
export async function resultHolds(page: Page, text: RegExp): Promise<void> {
  await page.locator('.graphiql-response .view-lines', { hasText: text }).waitFor({ timeout: 20_000 });
}
