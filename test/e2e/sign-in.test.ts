/** Signing in with a real browser: by the printed address, and by the page that asks. The token stays nowhere. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeWithBrowser, takePictures } from '../support/browser.ts';
import { isGraphiql, isReady, printedAddress, signIn } from '../support/graphiql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { M, S } from '../support/stores.ts';

const WRONG = 'That is not the token of this server.';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ rows: [S('private', { title: 'A private plan' }), M('private', { content: 'Nobody knows.' })] });
});

/** The places where a script of the page could read the text. The page is too long to be compared in an assertion. */
async function placesOf(page: Page, text: string): Promise<string[]> {
  const places = await page.evaluate(async () => ({
    html: document.documentElement.outerHTML,
    address: location.href,
    cookies: document.cookie,
    referrer: document.referrer,
    state: JSON.stringify(history.state),
    name: window.name,
    localStorage: JSON.stringify({ ...localStorage }),
    sessionStorage: JSON.stringify({ ...sessionStorage }),
    databases: JSON.stringify(await indexedDB.databases()),
    performance: JSON.stringify(performance.getEntries()),
  }));
  return Object.entries(places).flatMap(([name, content]) => (content.includes(text) ? [name] : []));
}

const hasText = async (page: Page, text: string): Promise<void> => page.getByRole('alert').getByText(text).waitFor();

describeWithBrowser('in a browser', (browser) => {
  describe('the printed address', () => {
    it('signs in, leads to GraphiQL, and leaves the token nowhere in the page', async () => {
      const page = await browser().open();
      await page.goto(printedAddress(server));
      await isReady(page);
      expect(page.url()).toBe(server.url);
      expect(await placesOf(page, 'graphiql-container')).toContain('html');
      expect(await placesOf(page, server.token)).toEqual([]);
      // Nor is it one step back.
      await page.goBack();
      expect(page.url()).toBe('about:blank');
      expect(browser().complaints).toEqual([]);
    });

    it('leaves the address bar of who is signed in already, also in a tab that stands open', async () => {
      const page = await browser().open();
      await signIn(page, server);
      await page.goto(printedAddress(server));
      await page.waitForURL(server.url);
      await isGraphiql(page);
      expect(await placesOf(page, server.token)).toEqual([]);
      await page.evaluate((address) => location.assign(address), printedAddress(server));
      await page.waitForURL(server.url);
      await isGraphiql(page);
      expect(await placesOf(page, server.token)).toEqual([]);
    });

    it('works in a tab that shows the sign-in page', async () => {
      const page = await browser().open();
      await page.goto(server.url);
      await page.getByLabel('Token').waitFor();
      await page.evaluate((address) => location.assign(address), printedAddress(server));
      await isGraphiql(page);
      expect(page.url()).toBe(server.url);
    });

    it('with a wrong token says so, and takes it out of the address bar', async () => {
      const page = await browser().open();
      await page.goto(`${printedAddress(server)}-of-yesterday`);
      await hasText(page, WRONG);
      expect(page.url()).toBe(server.url);
    });
  });

  describe('the sign-in page', () => {
    it('asks for the token, says when it is wrong, and takes the right one', async () => {
      const page = await browser().open();
      const field = page.getByLabel('Token');
      await takePictures(page, 'sign-in', async () => {
        await page.goto(server.url);
        await field.waitFor();
      });
      for (const text of ['graphiql-container', 'plan', server.token]) expect(await placesOf(page, text)).toEqual([]);
      expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
      const button = page.getByRole('button', { name: 'Open GraphiQL' });
      for (const wrong of ['not-the-token-of-this-server', 'kein-Schlüssel-für-hier', 'with spaces in between']) {
        await field.fill(wrong);
        await button.click();
        await hasText(page, WRONG);
        expect(await page.context().cookies()).toEqual([]);
      }
      await field.fill(`  ${server.token} `);
      await button.click();
      await isGraphiql(page);
      expect(page.url()).toBe(server.url);
      const cookies = await page.context().cookies();
      expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
      expect(cookies[0]?.value).not.toContain(server.token);
    });

    it('says when the server has gone', async () => {
      const own = await startTestServer();
      const page = await browser().open();
      await page.goto(own.url);
      await own.stop();
      await page.getByLabel('Token').fill(own.token);
      await page.keyboard.press('Enter');
      await hasText(page, 'The server did not answer. Is it still running?');
    });
  });
});
