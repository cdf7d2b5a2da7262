import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renewed, rewritePage } from './rewrite.ts';

const OID = '1c392df794a835079f7600388fa62f2be58f752e';
const OTHER = '5fff24a51fbb4ae8d4f029fe6bf2ab919bbe21ea';

it('a rewritten page keeps the lines that differ only from run to run', () => {
  const shows = `${OID}\nwritten, just now\n`;
  expect(renewed({ line: 1, shows, output: `${OTHER}\nkept, 2 seconds ago\n` })).toBe(
    `${OID}\nkept, 2 seconds ago\n`,
  );
});

it('a rewritten page leaves out what it left out, and replaces a missing line by the most similar one', () => {
  const shows = '…\nproblem  hooks  not registered: unguarded\n…\nhint: git handoff init\n';
  const output = 'ok  git\nproblem  hooks  not registered: calls pass\nok  log\nhint: git handoff init\n';
  expect(renewed({ line: 1, shows, output })).toBe(
    '…\nproblem  hooks  not registered: calls pass\n…\nhint: git handoff init\n',
  );
  expect(renewed({ line: 1, shows, output: 'ok  git\n' })).toBeUndefined();
});

it('a rewritten page has each output in the place of the former one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'git-handoff-rewrite-'));
  try {
    const file = join(folder, 'page.md');
    writeFileSync(file, '```console\n$ one\na\nb\n$ two\n$ three\nc\n```\n');
    rewritePage(file, [
      { line: 2, shows: 'a\nb\n', output: 'A\n' },
      { line: 5, shows: '', output: 'new\nlines\n' },
      { line: 6, shows: 'c\n', output: '' },
    ]);
    expect(readFileSync(file, 'utf8')).toBe('```console\n$ one\nA\n$ two\nnew\nlines\n$ three\n```\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
