import { lstatSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { A, SharingWorld, TEN } from '../support/sharing-world.ts';

/** Up to 0.1.0 a rescue was a tree: `rescue.json`, the files in `files/`, staged contents in `index/`. */

let world: SharingWorld;
const blob = (text: string | Buffer) => world.git(['hash-object', '-w', '--stdin'], { input: text });
const tree = (...lines: string[]) =>
  world.git(['mktree'], { input: lines.map((line) => `${line}\n`).join('') });

beforeEach(() => {
  world = new SharingWorld({ files: { '.gitattributes': '*.crlf text eol=crlf\n' }, ready: [A] });
  world.bash(A, 'true');
});

/** Keeps such a tree under the next number. */
function keep(note: object, files: string, index?: string): void {
  const json = JSON.stringify({
    v: 1,
    kind: 'before',
    command: 'git reset --hard',
    session: A,
    at: Date.now(),
    worktree: 'repo',
    ref: 'refs/heads/main',
    head: world.git(['rev-parse', 'HEAD']),
    deleted: [],
    staged: [],
    skipped: [],
    ...note,
  });
  const entries = [`100644 blob ${blob(json)}\trescue.json`, `040000 tree ${files}\tfiles`];
  const oid = tree(...entries, ...(index === undefined ? [] : [`040000 tree ${index}\tindex`]));
  world.git(['update-ref', 'refs/handoffs-local/rescue/0123456789abcdef/1', oid]);
}

const file = (path: string, mode = '100644', more = {}) => ({ path, mode, bytes: 1, owner: A, ...more });
const restore = () => world.ok(['rescue', 'restore', '1']);

describe('A rescue that 0.1.0 kept', () => {
  it('comes back byte for byte: modes, links, binary, line ends, staged text, private files', () => {
    const binary = Buffer.from([0, 255, 10, 13, 0]);
    const files = tree(
      `100755 blob ${blob('#!/bin/sh\r\n')}\trun.sh`,
      `120000 blob ${blob('run.sh')}\tlink`,
      `100644 blob ${blob(binary)}\tbytes.bin`,
      `100644 blob ${blob('one\n')}\tmixed.crlf`,
      `100644 blob ${blob('key\n')}\tsecret.env`,
      `040000 tree ${tree(`100644 blob ${blob('disk\n')}\ta.ts`)}\tsrc`,
    );
    const index = tree(`040000 tree ${tree(`100644 blob ${blob('staged\n')}\ta.ts`)}\tsrc`);
    const names = [
      file('bytes.bin'),
      file('link', '120000'),
      file('mixed.crlf'),
      file('run.sh', '100755'),
      file('secret.env', '100644', { isPrivate: true }),
      file('src/a.ts'),
    ];
    keep({ files: names, deleted: ['gone.txt'], staged: ['src/a.ts'] }, files, index);
    const [listed] = world.json(['rescue']).items;
    expect(listed).toMatchObject({
      kind: 'before',
      deleted: ['gone.txt'],
      staged: ['src/a.ts'],
      files: [{}, {}, {}, {}, {}, {}],
    });
    const shown = world.ok(['rescue', 'show', '1']);
    const [, staged = ''] = /the staged text differs: git show (.*)/.exec(shown) ?? [];
    expect(world.git(['show', staged])).toBe('staged');
    restore();
    const at = (path: string) => join(world.path, path);
    expect(readFileSync(at('bytes.bin'))).toEqual(binary);
    expect(readFileSync(at('mixed.crlf'), 'utf8')).toBe('one\n');
    expect(readFileSync(at('run.sh'), 'utf8')).toBe('#!/bin/sh\r\n');
    expect(statSync(at('run.sh')).mode & 0o111).not.toBe(0);
    expect([lstatSync(at('link')).isSymbolicLink(), readlinkSync(at('link'))]).toEqual([true, 'run.sh']);
    expect(statSync(at('secret.env')).mode & 0o077).toBe(0);
    expect(world.read('src/a.ts')).toBe('disk\n');
  });

  it('from what a look had seen comes back as a checkout writes it', () => {
    const files = tree(
      `100644 blob ${blob('one\ntwo\n')}\ttext.crlf`,
      `100644 blob ${blob('raw\n')}\town.crlf`,
    );
    keep({ kind: 'seen', files: [file('own.crlf', '100644', { isRaw: true }), file('text.crlf')] }, files);
    restore();
    expect([world.read('text.crlf'), world.read('own.crlf')]).toEqual(['one\r\ntwo\r\n', 'raw\n']);
  });

  it('with similar names brings back each of them', () => {
    const one = Buffer.concat([Buffer.from(`100644 blob ${blob('one\n')}\tcaf`), Buffer.from([0xe9, 0])]);
    const two = Buffer.concat([Buffer.from(`100644 blob ${blob('two\n')}\tcaf`), Buffer.from([0xe8, 0])]);
    const files = world.git(['mktree', '-z'], { input: Buffer.concat([two, one]) });
    keep({ files: [file('caf\ufffd'), file('caf\ufffd')] }, files);
    restore();
    const read = (last: number) =>
      readFileSync(Buffer.concat([Buffer.from(`${world.path}/caf`), Buffer.from([last])]), 'utf8');
    expect([read(0xe9), read(0xe8)]).toEqual(['one\n', 'two\n']);
  });

  it('counts along with new ones, and a damaged one is left out', () => {
    keep(
      { files: [file('src/a.ts')] },
      tree(`040000 tree ${tree(`100644 blob ${blob('old\n')}\ta.ts`)}\tsrc`),
    );
    world.git(['update-ref', 'refs/handoffs-local/rescue/0123456789abcdef/7', tree()]);
    writeFileSync(join(world.path, 'src/a.ts'), 'new\n');
    world.bash(A, 'git reset -q --hard');
    expect(world.json(['rescue']).items.map(({ number }) => number)).toEqual([2, 1]);
    world.ok(['rescue', 'restore', '2']);
    expect(world.read('src/a.ts')).toBe('new\n');
    expect(world.read('src/a.ts')).not.toBe(TEN);
  });
});
