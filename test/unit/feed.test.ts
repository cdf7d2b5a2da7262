import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { feedFrom } from '../../src/host/feed.ts';
import { budgetUntil } from '../../src/host/io.ts';

const ENDLESS = budgetUntil(Infinity, () => 0);
const OVER = budgetUntil(0, () => 0);

let folder: string;
const open = new Set<number>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git feed '));
});
afterEach(() => {
  for (const descriptor of open) closeSync(descriptor);
  open.clear();
  rmSync(folder, { recursive: true, force: true });
});

/** A pipe into which a shell prints. */
function pipeOf(script: string): number {
  const path = join(folder, 'pipe');
  spawnSync('mkfifo', [path]);
  spawn('sh', ['-c', `exec >"$0"; ${script}`, path], { stdio: 'ignore' });
  const pipe = openSync(path, 'r');
  open.add(pipe);
  return pipe;
}

const from = (script: string) => feedFrom(pipeOf(script));

const text = (bytes: Buffer | undefined) => bytes?.toString();

describe('what the launcher feeds', () => {
  it('comes in parts, and ends in a rest', async () => {
    const feed = from(`printf 'one\\0tw'; sleep 0.05; printf 'o\\0\\0fo'; sleep 0.05; printf 'u\\0r'`);
    const parts = [];
    for (let n = 0; n < 3; n += 1) parts.push(text(await feed.part(ENDLESS)));
    expect(parts).toEqual(['one', 'two', '']);
    expect(text(await feed.rest(ENDLESS))).toBe('fou\0r');
    expect(text(await feed.rest(ENDLESS))).toBe('');
  });

  it('goes on behind what was read of it already', async () => {
    const feed = feedFrom(pipeOf(`printf 'o\\0rest'`), Buffer.from('one\0tw'));
    expect(text(await feed.part(ENDLESS))).toBe('one');
    expect(text(await feed.part(ENDLESS))).toBe('two');
    expect(text(await feed.rest(ENDLESS))).toBe('rest');
  });

  it('gives the beginning of the rest as soon as its end is there, in two pieces or within one', async () => {
    const feed = from(
      `printf 'first;;sec'; sleep 0.05; printf 'o;nd;'; sleep 0.05; printf ';th;'; sleep 0.05; printf ird`,
    );
    let asked = 0;
    const clause = (bytes: Buffer) => {
      asked += 1;
      const length = bytes.indexOf(';;') + 2;
      return { value: bytes.toString('utf8', 0, length), length };
    };
    expect(await feed.take(ENDLESS, ';;', clause)).toBe('first;;');
    expect(await feed.take(ENDLESS, ';;', clause)).toBe('seco;nd;;');
    expect(await feed.take(ENDLESS, ';;', clause)).toBeUndefined();
    expect(asked).toBe(2);
    expect(text(await feed.rest(ENDLESS))).toBe('th;ird');
  });

  it('is looked at again where the end was not the end', async () => {
    const feed = from(`printf 'a;;b'; sleep 0.05; printf 'c;;d'`);
    const second = (bytes: Buffer) => {
      const length = bytes.indexOf(';;', 3) + 2;
      return length < 3 ? undefined : { value: bytes.toString('utf8', 0, length), length };
    };
    expect(await feed.take(ENDLESS, ';;', second)).toBe('a;;bc;;');
    expect(text(await feed.rest(ENDLESS))).toBe('d');
  });

  it('is not waited for longer than there is time', async () => {
    const feed = from(`printf 'one\\0'; exec sleep 1`);
    expect(text(await feed.part(ENDLESS))).toBe('one');
    expect(await feed.part(OVER)).toBeUndefined();
    expect(await feed.rest(OVER)).toBeUndefined();
  });

  it('has no part that was cut off', async () => {
    const feed = from(`printf 'one\\0tw'`);
    expect(text(await feed.part(ENDLESS))).toBe('one');
    expect(await feed.part(ENDLESS)).toBeUndefined();
  });

  it('arrives whole, however much it is', async () => {
    const feed = from(`head -c 1000000 /dev/zero | tr '\\0' x; printf '\\0'; head -c 500000 /dev/zero`);
    expect((await feed.part(ENDLESS))?.length).toBe(1_000_000);
    expect((await feed.rest(ENDLESS))?.length).toBe(500_000);
  });
});
