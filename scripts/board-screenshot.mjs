// Makes docs/board.png, a picture of an invented team's board, with /usr/bin/chromium or the browser that
// GIT_HANDOFF_CHROMIUM names.
//   --dark <file>   writes the same picture in dark mode to a file
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { rolldown } from 'rolldown';
import { boardAssets } from './board-assets.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dark = process.argv[process.argv.indexOf('--dark') + 1];
const isDark = process.argv.includes('--dark') && dark !== undefined;
const target = isDark ? dark : join(root, 'docs', 'board.png');
const MAX_BYTES = 150 * 1024;
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const scratch = mkdtempSync(join(tmpdir(), 'git-handoff-board-'));

async function load(source) {
  const file = join(scratch, `${source.replaceAll('/', '-')}.mjs`);
  const build = await rolldown({ input: join(root, source), platform: 'node' });
  await build.write({ file, format: 'esm' });
  await build.close();
  return import(pathToFileURL(file));
}

try {
  const { sampleBoard } = await load('test/support/board-sample.ts');
  const { boardPage } = await load('src/ui/board/page.ts');
  const board = sampleBoard({ sessions: 12, handoffs: 10 });
  const html = boardPage(board, await boardAssets(), '<!doctype html>\n<html lang="en">');
  writeFileSync(join(scratch, 'board.html'), html);
  const browser = await chromium.launch({
    executablePath: process.env.GIT_HANDOFF_CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
    env: { ...process.env, HOME: scratch },
  });
  const page = await browser.newPage({
    viewport: { width: 1160, height: 780 },
    timezoneId: 'UTC',
    colorScheme: isDark ? 'dark' : 'light',
  });
  await page.goto(pathToFileURL(join(scratch, 'board.html')).href);
  await page.waitForSelector('[role=row]');
  await page.screenshot({ path: target });
  await browser.close();
  const { size } = statSync(target);
  if (size > MAX_BYTES) throw new Error(`${target} has ${size} bytes, at most ${MAX_BYTES} are wanted`);
  console.log(`${target}: ${size} bytes`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
