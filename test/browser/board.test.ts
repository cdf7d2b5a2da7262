import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boardAssets } from '../../scripts/board-assets.mjs';
import { type Assets, boardPage } from '../../src/ui/board/page.ts';
import type { Board } from '../../src/ui/board/shape.ts';
import { sampleBoard } from '../support/board-sample.ts';
import { hostileCases } from '../support/hostile-cases.ts';

const CHROMIUM = process.env['GIT_HANDOFF_CHROMIUM'] ?? '/usr/bin/chromium';

/** Why no browser can be driven here; `undefined` if one can. */
const noBrowser = existsSync(CHROMIUM)
  ? undefined
  : `${CHROMIUM} is missing: apt-get install chromium (or name one in GIT_HANDOFF_CHROMIUM)`;

const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-component-update'],
  ...['--disable-background-networking', '--disable-sync'],
];

/** Debian's Chromium with its own profile. */
class Browser {
  readonly #profile: string;
  readonly #context: BrowserContext;

  private constructor(profile: string, context: BrowserContext) {
    this.#profile = profile;
    this.#context = context;
  }

  static async open(): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'git-notes-test-'));
    const context = await chromium.launchPersistentContext(join(profile, 'profile'), {
      executablePath: CHROMIUM,
      args: ARGUMENTS,
      headless: true,
      timezoneId: 'UTC',
      viewport: { width: 1280, height: 900 },
      // The page's own policy is under test.
      bypassCSP: false,
      env: { ...process.env, HOME: profile },
    });
    return new Browser(profile, context);
  }

  /** Opens a page's text as a file. */
  async file(html: string): Promise<WatchedPage> {
    const file = join(mkdtempSync(join(this.#profile, 'page-')), 'board.html');
    writeFileSync(file, html);
    return this.visit(`file://${file}`);
  }

  async visit(url: string): Promise<WatchedPage> {
    const page = await this.#context.newPage();
    const watched = new WatchedPage(page, url);
    await page.goto(url);
    await page.waitForSelector('h1');
    return watched;
  }

  async close(): Promise<void> {
    await this.#context.close();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A page and what was noticed about it since it was opened. */
class WatchedPage {
  readonly page: Page;
  /** Everything that the page requested besides itself. */
  readonly requests: string[] = [];
  readonly dialogs: string[] = [];
  /** Errors and warnings, including those from its own policy. */
  readonly complaints: string[] = [];

  constructor(page: Page, url: string) {
    this.page = page;
    page.on('request', (request) => {
      if (request.url() !== url) this.requests.push(request.url());
    });
    page.on('dialog', (dialog) => {
      this.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
  }
}

/** The page's script and style, as the build makes them. */
const ASSETS: Assets = await boardAssets();

/** The page of a board, with the built script and style. */
function pageOf(board: Board): string {
  return boardPage(board, ASSETS, '<!doctype html>\n<html lang="en">');
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SMALL = sampleBoard({ sessions: 14, handoffs: 12 });
/** The time limit, in milliseconds, to draw the page or to change the view. */
const LIMIT_MS = 2000;

if (noBrowser !== undefined) console.warn(`the browser tests are skipped: ${noBrowser}`);

let browser: Browser;
beforeAll(async () => {
  if (noBrowser === undefined) browser = await Browser.open();
});
afterAll(async () => {
  if (noBrowser === undefined) await browser.close();
});

/** What axe-core finds, as lines. */
async function violations({ page }: WatchedPage): Promise<string[]> {
  // The debugger inserts axe, since the page's own policy forbids other scripts.
  await page.evaluate(AXE);
  const results = await page.evaluate(async () =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
  );
}

const view = ({ page }: WatchedPage, name: string) =>
  page.getByRole('group', { name: 'View' }).getByRole('button', { name }).click();

function expectQuiet({ requests, dialogs, complaints }: WatchedPage): void {
  expect({ requests, dialogs, complaints }).toEqual({ requests: [], dialogs: [], complaints: [] });
}

describe.skipIf(noBrowser !== undefined)('the board in a browser', () => {
  it('shows lanes, and requests nothing from anybody', async () => {
    const opened = await browser.file(pageOf(SMALL));
    expect(await opened.page.getByRole('row').count()).toBe(14);
    expect(await opened.page.locator('h1').innerText()).toContain('shop');
    expectQuiet(opened);
    await opened.page.close();
  });

  it('leads from a lane to a handoff, its text and its changes, and back', async () => {
    const opened = await browser.file(pageOf(SMALL));
    const { page } = opened;
    await view(opened, 'Handoffs');
    await page.getByRole('button', { name: 'main/cache-keys-10' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('pre').innerText()).toContain('# Next action');
    await dialog.getByLabel('Show').selectOption({ index: 1 });
    expect(await dialog.locator('.added').first().innerText()).toContain('+ - round 2');
    await dialog.getByRole('button', { name: 'claude 19c6b9a4', exact: true }).click();
    expect(await dialog.getByRole('heading', { level: 2 }).innerText()).toBe('claude 19c6b9a4');
    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await dialog.getByRole('heading', { level: 2 }).innerText()).toBe('main/cache-keys-10');
    await page.keyboard.press('Escape');
    expect(await dialog.count()).toBe(0);
    expectQuiet(opened);
    await page.close();
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = await browser.file(pageOf(SMALL));
    const focused = () =>
      page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
      );
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('Tab');
    expect(await focused()).toMatch(/^Session 19c6b9a4claude.*, live, /);
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toMatch(/^Session 2d414f6e/);
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toMatch(/^commit: /);
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
    expect(ring).not.toBe('none');
    const before = await focused();
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await focused()).toBe(before);
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    expect(await focused()).toMatch(/^Session 2d414f6e/);
    // The tab key stops at only one button.
    expect(await page.locator('[role=grid] button[tabindex="0"]').count()).toBe(1);
    await page.close();
  });

  it('filters, and says if nothing is left', async () => {
    const { page } = await browser.file(pageOf(SMALL));
    await page.getByRole('searchbox').fill('billing');
    await expect.poll(() => page.getByRole('row').count()).toBeLessThan(14);
    await page.getByRole('searchbox').fill('no such thing');
    await page.getByText('No session in this span of time').waitFor();
    await page.close();
  });

  it('says what to type when nothing has happened', async () => {
    const { page } = await browser.file(
      pageOf({ ...sampleBoard({ sessions: 0, handoffs: 0 }), initialised: false }),
    );
    expect(await page.locator('.command').allInnerTexts()).toEqual([
      'git handoff init',
      "git handoff write auth-refresh -m 'what the next session must know'",
    ]);
    await page.close();
  });

  it('says where to find a text that is not in the page', async () => {
    const opened = await browser.file(pageOf({ ...SMALL, notes: {} }));
    await view(opened, 'Handoffs');
    await opened.page.getByRole('button', { name: 'main/cache-keys-10' }).click();
    const text = opened.page.locator('.text .command');
    expect(await text.innerText()).toBe('git handoff show main/cache-keys-10 --at 99e0802ed22e');
    await opened.page.close();
  });

  it('filters by the state or kind in a row', async () => {
    const opened = await browser.file(pageOf(SMALL));
    const { page } = opened;
    const cells = (column: number) => page.locator(`tbody td:nth-child(${column})`).allInnerTexts();
    await view(opened, 'Handoffs');
    await page.getByRole('searchbox').fill('closed');
    await expect.poll(async () => [...new Set(await cells(2))]).toEqual(['closed']);
    await page.getByRole('searchbox').fill('refused');
    await view(opened, 'Events');
    await expect.poll(async () => [...new Set(await cells(2))]).toEqual(['refused']);
    await page.getByRole('searchbox').fill('died');
    await view(opened, 'Sessions');
    await expect.poll(async () => [...new Set(await cells(2))]).toEqual(['died']);
    await page.close();
  });

  it('turns the pages of a long list', async () => {
    const { page } = await browser.file(pageOf(sampleBoard({ sessions: 70, handoffs: 60 })));
    await page.getByLabel('Span').selectOption('everything');
    expect(await page.getByRole('row').count()).toBe(40);
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    expect(await page.getByRole('row').count()).toBe(30);
    await page.close();
  });
});

describe.skipIf(noBrowser !== undefined)('for every reader', () => {
  it.each(['light', 'dark'] as const)('has no problem for axe-core: %s', async (colorScheme) => {
    const opened = await browser.file(pageOf(SMALL));
    const { page } = opened;
    await page.emulateMedia({ colorScheme });
    for (const name of ['Timeline', 'Sessions', 'Handoffs', 'Events']) {
      await view(opened, name);
      expect(await violations(opened), name).toEqual([]);
    }
    await page.locator('.what').first().click();
    await page.locator('dialog[open]').waitFor();
    expect(await violations(opened), 'the panel').toEqual([]);
    await page.close();
  });

  it.each(['light', 'dark'] as const)('has none if narrow or empty: %s', async (colorScheme) => {
    const narrow = await browser.file(pageOf(SMALL));
    await narrow.page.emulateMedia({ colorScheme });
    await narrow.page.setViewportSize({ width: 390, height: 800 });
    expect(await violations(narrow)).toEqual([]);
    expect(await narrow.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const empty = await browser.file(pageOf(sampleBoard({ sessions: 0, handoffs: 0 })));
    await empty.page.emulateMedia({ colorScheme });
    expect(await violations(empty)).toEqual([]);
    await Promise.all([narrow.page.close(), empty.page.close()]);
  });
});

describe.skipIf(noBrowser !== undefined)('a thousand sessions and ten thousand handoffs', () => {
  it('are drawn within two seconds, as is each change of view', async () => {
    const opened = await browser.file(pageOf(sampleBoard({ sessions: 1000, handoffs: 10_000 })));
    const { page } = opened;
    const drawn = await page.evaluate(() => {
      const [entry] = performance.getEntriesByType('navigation');
      return (entry as PerformanceNavigationTiming).domComplete;
    });
    const times: Record<string, number> = { drawn };
    for (const name of ['Sessions', 'Handoffs', 'Events', 'Timeline']) {
      times[name] = await page.evaluate(async (text) => {
        const started = performance.now();
        [...document.querySelectorAll('button')].find((one) => one.textContent === text)?.click();
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        return performance.now() - started;
      }, name);
    }
    times['filtered'] = await page.evaluate(async () => {
      const input = document.querySelector('input[type=search]') as HTMLInputElement;
      const started = performance.now();
      input.value = 'billing';
      input.dispatchEvent(new Event('input'));
      await new Promise((resolve) => setTimeout(resolve, 150));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return performance.now() - started;
    });
    console.info(`milliseconds: ${JSON.stringify(times)}`);
    for (const [what, time] of Object.entries(times)) expect(time, what).toBeLessThan(LIMIT_MS);
    expect(await page.locator('button').count()).toBeLessThan(2500);
    expectQuiet(opened);
    await page.close();
  });
});

/** Texts that would run, request or show something if they became markup, style or script. */
const MARKUP = [
  '</script><script>globalThis.ran=1;alert(1)</script>',
  '<img src=x onerror="globalThis.ran=1;alert(1)">',
  '<svg onload=alert(1)><style>@import "http://127.0.0.1:9/x"</style></svg>',
  '<iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
  '"><a href="javascript:globalThis.ran=1" autofocus onfocus="globalThis.ran=1">x</a>',
  '<!--<script>',
  ']]>{{7*7}}${globalThis.ran=1}`',
  '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">',
  '<base href="http://127.0.0.1:9/"><link rel="stylesheet" href="/x">',
  '__proto__',
  'constructor',
];

/** A board in which every text comes from somebody who means harm. */
function hostileBoard(): Board {
  const bodies = hostileCases<{
    body?: string;
    bodyBase64?: string;
    generate?: { unit: string; count: number };
  }>('bodies.json').map(({ body, bodyBase64, generate }) =>
    bodyBase64 === undefined
      ? (body ?? generate?.unit.repeat(Math.min(generate.count, 5000)) ?? '')
      : Buffer.from(bodyBase64, 'base64').toString('utf8'),
  );
  const texts = [...MARKUP, ...bodies];
  const text = (at: number) => texts[at % texts.length] ?? '';
  const at = SMALL.at;
  const oid = (n: number) => n.toString(16).padStart(40, '0');
  return {
    ...SMALL,
    repository: text(0),
    limits: [text(1)],
    sessions: texts.map((one, n) => ({
      id: `${n}${one}`,
      state: 'live',
      client: text(n + 1),
      from: at - 60_000,
      to: at,
      reason: text(n + 2),
      branch: text(n + 3),
      worktree: text(n + 4),
    })),
    topics: texts.map((one, n) => ({
      branch: one,
      topic: `${n}-${text(n + 1)}`,
      typed: one,
      versions: [
        {
          oid: oid(2 * n),
          at: at - 1000,
          by: n,
          step: 'take',
          summary: one,
          takenFrom: text(n + 1),
          to: one,
        },
        { oid: oid(2 * n + 1), at: at - 2000, by: n, step: 'create', summary: one, automatic: one },
      ],
    })),
    commits: texts.map((one, n) => ({
      oid: oid(n + 9000),
      at: at - 3000,
      by: [n],
      subject: one,
      branch: one,
    })),
    refusals: texts.map((one, n) => ({ at: at - 4000, by: n, detail: one })),
    notes: Object.fromEntries(
      texts.flatMap((one, n) => [
        [oid(2 * n), one],
        [oid(2 * n + 1), text(n + 1)],
      ]),
    ),
  };
}

describe.skipIf(noBrowser !== undefined)('hostile texts', () => {
  it('stay text wherever they are shown', async () => {
    const board = hostileBoard();
    const opened = await browser.file(pageOf(board));
    const { page } = opened;
    const ran = () => page.evaluate(() => Object.hasOwn(globalThis, 'ran'));
    const foreign = () =>
      page
        .locator('img, svg, iframe, object, embed, base, link, form, a, body style, meta[http-equiv=refresh]')
        .count();
    for (const name of ['Timeline', 'Sessions', 'Handoffs', 'Events']) {
      await view(opened, name);
      expect([name, await ran(), await foreign()]).toEqual([name, false, 0]);
    }
    await view(opened, 'Handoffs');
    const buttons = page.locator('tbody tr td:first-child button');
    for (let at = 0; at < (await buttons.count()); at++) {
      await buttons.nth(at).click();
      await page.locator('dialog[open] .text > *').first().waitFor({ state: 'attached' });
      await page.locator('#base').selectOption({ index: 1 });
      await page.keyboard.press('Escape');
    }
    expect([await ran(), await foreign()]).toEqual([false, 0]);
    expect(await page.title()).toBe(`${board.repository} · git handoff board`);
    expectQuiet(opened);
    await page.close();
  });

  it('cannot escape the policy, even with a script that got in', async () => {
    const html = pageOf(SMALL).replace(
      '</body>',
      '<script>globalThis.ran=1</script><img src="http://127.0.0.1:9/x">',
    );
    const opened = await browser.file(html);
    expect(await opened.page.evaluate(() => Object.hasOwn(globalThis, 'ran'))).toBe(false);
    expect(opened.complaints.join('\n')).toMatch(/script-src[\s\S]*default-src/);
    await opened.page.close();
  });
});
