/** GraphiQL in a real browser without a network: a query and a subscription, on a desk and on a telephone (`field-cases` F85). */
import { beforeAll, expect, it } from 'vitest';
import { EXAMPLES } from '../../src/server/examples.ts';
import { describeWithBrowser, PHONE, takePictures } from '../support/browser.ts';
import { chooseTab, openSignedIn, resultHolds, run, stop } from '../support/graphiql.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { M, S } from '../support/stores.ts';
import { startWriter } from '../support/writer.ts';

let server: TestServer;
beforeAll(async () => {
  const now = Date.now() / 1000;
  server = await startTestServer({
    rows: [
      S('tea', { title: 'Tea in the garden', started_at: now - 600, model: 'model-a' }),
      M('tea', { content: 'Which tea grows here?', timestamp: now - 590 }),
      M('tea', { role: 'assistant', content: 'Mint, always.', timestamp: now - 580 }),
      S('bread', { title: 'Bread for Sunday', started_at: now - 6000 }),
      M('bread', { content: 'How long does the dough rest?', timestamp: now - 5990 }),
    ],
  });
});

describeWithBrowser('GraphiQL', (browser) => {
  it('runs the first example and shows its result, today and tomorrow', async () => {
    const page = await browser().open();
    await takePictures(page, 'graphiql', async () => {
      await openSignedIn(page, server);
      await run(page);
      await resultHolds(page, /"displayTitle":\s*"Tea\sin\sthe\sgarden"/);
    });
    // It was loaded twice: the first example stood there again, and not an empty tab.
    expect(await page.getByRole('tab').count()).toBe(EXAMPLES.length);
    expect(browser().complaints).toEqual([]);
  });

  it('follows: an event that another process causes is shown', async () => {
    const page = await browser().open();
    await openSignedIn(page, server);
    await chooseTab(page, 'Follow');
    await run(page);
    await resultHolds(page, /"changes":\s*\[\]/);
    const writer = await startWriter(server.storePath);
    await writer.exec('UPDATE sessions SET title = ? WHERE id = ?', ['Bread, written elsewhere', 'bread']);
    await resultHolds(page, /"displayTitle":\s*"Bread,\swritten\selsewhere"/);
    await writer.close();
    await stop(page);
    expect(browser().complaints).toEqual([]);
  });

  it('shows query and result below each other on a telephone, each wide enough to read', async () => {
    const page = await browser().open(PHONE);
    await openSignedIn(page, server);
    await run(page);
    await resultHolds(page, /"totalCount"/);
    const query = await page.locator('.graphiql-query-editor').boundingBox();
    const result = await page.locator('.graphiql-response').boundingBox();
    if (query === null || result === null) return expect.unreachable('query or result is not shown');
    for (const box of [query, result]) {
      expect(box.width).toBeGreaterThanOrEqual(300);
      expect(box.height).toBeGreaterThanOrEqual(150);
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(PHONE.width);
      expect(box.y + box.height).toBeLessThanOrEqual(PHONE.height);
    }
    expect(result.y).toBeGreaterThanOrEqual(query.y + query.height);
  });
});
