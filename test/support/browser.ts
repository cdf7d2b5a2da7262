import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, type Page, chromium } from 'playwright-core';

const CHROMIUM = process.env['GIT_HANDOFF_CHROMIUM'] ?? '/usr/bin/chromium';

/** Why no browser can be driven here; `undefined`: one can. */
export const noBrowser = existsSync(CHROMIUM)
  ? undefined
  : `${CHROMIUM} is missing: apt-get install chromium (or name one in GIT_HANDOFF_CHROMIUM)`;

const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-component-update'],
  ...['--disable-background-networking', '--disable-sync'],
];

/** Debian's Chromium with a profile of its own, and what a page in it did that it must not do. */
export class Browser {
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
      // axe is put into the page by the debugger's protocol; the page's own policy is what is tested.
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
export class WatchedPage {
  readonly page: Page;
  /** Everything that it asked for besides itself. */
  readonly requests: string[] = [];
  readonly dialogs: string[] = [];
  /** Errors and warnings, also those of its own policy. */
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
