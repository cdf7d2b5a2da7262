import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BegunLook, readBegunLook, writtenBlob } from '../../src/git/begun-look.ts';
import { objectName } from '../../src/git/hash.ts';

const OID = 'a'.repeat(40);
const STATUS = '# branch.oid (initial)\0# branch.head main\0? a b';

describe('a look that the launcher began', () => {
  it.each([
    ['dash', '0m0.000000s 0m0.000000s\n0m0.010000s 0m0.030000s\n', 40],
    ['bash', '0m0.001s 0m0.000s\n0m0.000s 0m1.005s\n', 1006],
    ['mksh', '    0m0.00s     0m0.01s\n    1m0.00s     0m0.00s\n', 60_010],
    ['ksh93', 'user\t0m0.00s\nsys\t0m0.02s\n', 20],
    ['zsh', '0.00s 0.00s\n0.01s 0.02s\n', 30],
  ])('says what git took, as %s tells it', (_, times, costMs) => {
    expect(readBegunLook(`${STATUS}\0\0${times}`, 7)).toEqual({
      written: undefined,
      status: STATUS,
      at: 7,
      costMs,
    });
  });

  it('begins with the blob of what a tool wrote', () => {
    expect(readBegunLook(`${OID}\n${STATUS}\0\0`, 7)).toMatchObject({ written: OID, status: STATUS });
  });

  it.each([
    ['nothing', ''],
    ['a part of the list', '# branch.oid (initial)\0? 1.0s'],
    ['a list without its end', `${STATUS}\0`],
    ['a blob and no list', `${OID}\n`],
  ])('is none: %s', (_, text) => {
    expect(readBegunLook(text, 7)).toBeUndefined();
  });
});

describe('the blob of a file that a tool wrote', () => {
  let top: string;
  const begun = (written: string | undefined) =>
    ({ ...readBegunLook(`${STATUS}\0\0`, 7), written }) as unknown as BegunLook;
  const name = (text: string, format: 'sha1' | 'sha256' = 'sha1') =>
    objectName(format, 'blob', Buffer.from(text));

  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), 'git begun '));
    writeFileSync(join(top, 'a'), 'one\n');
  });
  afterEach(() => rmSync(top, { recursive: true }));

  it.each(['sha1', 'sha256'] as const)('is the one that git named: %s', (format) => {
    const oid = name('one\n', format);
    expect(writtenBlob(top, ['a'], begun(oid))).toEqual(new Map([['a', oid]]));
  });

  it.each([
    ['its content was changed since, or a filter changes it', ['a'], name('two\n')],
    ['it is gone', ['b'], name('one\n')],
    ['git named none', ['a'], undefined],
    ['the tool wrote two files', ['a', 'b'], name('one\n')],
    ['the tool wrote none', [], name('one\n')],
  ])('is asked of git when %s', (_, paths, oid) => {
    expect(writtenBlob(top, paths, begun(oid))).toBeUndefined();
  });
});
