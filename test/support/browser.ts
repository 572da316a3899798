/**
 * A headless Chromium that reaches this machine's 127.0.0.1 and nothing else: names can't be resolved, and every request that isn't to it
 * is blocked and remembered.
 *
 *   describeWithBrowser('GraphiQL', (browser) => {
 *     it('…', async () => {
 *       const page = await browser().open(PHONE);
 *
 * Without Chromium the tests are skipped with a banner that can't be overlooked, or fail when CADUCEUS_REQUIRE_BROWSER is 1.
 */
import { existsSync, mkdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type Browser as Chromium, chromium, type Page, type ViewportSize } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const EXECUTABLE = process.env.CHROMIUM_PATH || '/usr/bin/chromium';

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

export const DESKTOP: ViewportSize = { width: 1280, height: 800 };
export const PHONE: ViewportSize = { width: 390, height: 844 };

/** Where pictures of the pages go, to be looked at. */
const PICTURES = join(tmpdir(), 'caduceus-pictures');

export class TestBrowser {
  /** Everything that pages tried to reach elsewhere. */
  readonly foreign: string[] = [];
  /** What pages complained of: scripts that failed, a policy that was broken. */
  readonly complaints: string[] = [];
  readonly #chromium: Chromium;
  readonly #contexts: BrowserContext[] = [];

  constructor(browser: Chromium) {
    this.#chromium = browser;
  }

  static async launch(): Promise<TestBrowser> {
    return new TestBrowser(await chromium.launch({ executablePath: EXECUTABLE, args: QUIET }));
  }

  /** A page in a profile of its own, every request of which is looked at. */
  async open(viewport = DESKTOP): Promise<Page> {
    const context = await this.#chromium.newContext({ viewport });
    this.#contexts.push(context);
    // Requests of a page's workers come here too, and those that the browser answers without a route.
    context.on('request', (request) => {
      if (!isLocal(request.url())) this.foreign.push(request.url());
    });
    await context.route('**/*', (route) => (isLocal(route.request().url()) ? route.continue() : route.abort()));
    context.on('page', (page) => this.#watch(page));
    return context.newPage();
  }

  /** Closes all pages; nothing of one test is left for the next. */
  async forget(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    this.foreign.length = 0;
    this.complaints.length = 0;
  }

  close(): Promise<void> {
    return this.#chromium.close();
  }

  #watch(page: Page): void {
    page.on('websocket', (socket) => {
      if (!isLocal(socket.url())) this.foreign.push(socket.url());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
  }
}

/** This machine's addresses, and what a page made itself. */
function isLocal(address: string): boolean {
  const url = new URL(address);
  if (url.protocol === 'blob:') return isLocal(url.pathname);
  return url.protocol === 'data:' || url.protocol === 'about:' || url.hostname === '127.0.0.1';
}

/**
 * Pictures of the page on a desk and on a telephone, by day and by night. `open` loads it and makes it what is to be seen. Fails when it
 * is wider than the screen.
 */
export async function takePictures(page: Page, name: string, open: () => Promise<void>): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    // GraphiQL's editors look at the scheme only once.
    await page.emulateMedia({ colorScheme });
    await open();
    for (const viewport of [PHONE, DESKTOP]) {
      await page.setViewportSize(viewport);
      // GraphiQL fits its editors over a moment.
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(PICTURES, `${name}-${viewport.width}x${viewport.height}-${colorScheme}.png`) });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
    }
  }
}

/** Tests that share one browser. After each its pages are closed, and none may have reached for another machine. */
export function describeWithBrowser(name: string, tests: (browser: () => TestBrowser) => void): void {
  const missing = `There is no browser at ${EXECUTABLE}. Install Chromium, or name it with CHROMIUM_PATH.`;
  if (existsSync(EXECUTABLE)) {
    describe(name, () => {
      let browser: TestBrowser | undefined;
      beforeAll(async () => {
        browser = await TestBrowser.launch();
      });
      afterEach(async () => {
        const foreign = [...(browser?.foreign ?? [])];
        await browser?.forget();
        expect(foreign).toEqual([]);
      });
      afterAll(() => browser?.close());
      tests(() => browser ?? expect.unreachable('the browser is not running yet'));
    });
  } else if (process.env.CADUCEUS_REQUIRE_BROWSER === '1') {
    it(name, () => expect.unreachable(missing));
  } else {
    const line = '#'.repeat(110);
    // Past the test runner, whose reporters may leave it out.
    writeSync(2, `\n${line}\n## BROWSER TESTS ARE SKIPPED ("${name}"). ${missing}\n${line}\n\n`);
    describe.skip(name, () => tests(() => expect.unreachable(missing)));
  }
}
