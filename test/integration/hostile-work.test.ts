import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** Forged work commits. Unpacking one leaves every file as it was. */

let server: TestRepository;
let victim: TestRepository;
beforeEach(() => {
  server = new TestRepository({ bare: true, folder: 'server.git' });
  victim = new TestRepository({ cloneOf: { url: server.path } });
  victim.commit('files', { 'a.txt': 'hello\n', 'dir/b.txt': 'b\n' });
  victim.git(['push', '-q', 'origin', 'main']);
});
afterEach(() => {
  server.remove();
  victim.remove();
});

const blob = (text: string) => server.git(['hash-object', '-w', '--stdin'], { input: text });
const tree = (lines: readonly string[]) => server.git(['mktree'], { input: `${lines.join('\n')}\n` });
const TRAILERS = 'Claude-Session-Id: eve-0001\nHandoff-State: open';

/** Makes a work commit with this `work.json` and these numbered contents, and a note that carries it. */
function forge(json: string, contents: readonly string[], more: Forged = {}): void {
  const entries = [
    `100644 blob ${blob(json)}\twork.json`,
    ...contents.map((text, at) => `100644 blob ${blob(text)}\t${at}`),
    ...(more.entries ?? []),
  ];
  const parents = more.hasParent === true ? ['-p', server.git(['rev-parse', 'main'])] : [];
  const work = server.git(['commit-tree', tree(entries), ...parents], {
    input: more.message ?? `work\n\n${TRAILERS}\n`,
    env: { GIT_COMMITTER_EMAIL: 'ada@example.org', GIT_AUTHOR_EMAIL: 'ada@example.org' },
  });
  server.git(['update-ref', `refs/handoffs-work/main/half-done/${work}`, work]);
  const state = { version: 1, branch: 'main', topic: 'half-done', head: null, upstream: null };
  const recorded = JSON.stringify({ ...state, dirty: 0, client: null, worktree: null });
  const note = tree([
    `100644 blob ${blob('read me\n')}\thandoff.md`,
    `100644 blob ${blob(recorded)}\tstate.json`,
  ]);
  const size = more.size ?? '1 1';
  const commit = server.git(['commit-tree', note], {
    input: `read me\n\n${TRAILERS}\nHandoff-Work: ${work}\nHandoff-Work-Size: ${size}\n`,
    env: { GIT_COMMITTER_EMAIL: 'ada@example.org', GIT_AUTHOR_EMAIL: 'ada@example.org' },
  });
  server.git(['update-ref', 'refs/handoffs/main/half-done', commit]);
}

interface Forged {
  readonly entries?: readonly string[];
  readonly hasParent?: boolean;
  readonly message?: string;
  readonly size?: string;
}

const file = (path: string, more: object = {}) => ({
  path,
  base: null,
  index: null,
  disk: ['100644', 0],
  ...more,
});
const json = (items: readonly unknown[], more: object = {}) =>
  JSON.stringify({ version: 1, base: null, items, ...more });

/** Everything in the victim's home except git's own objects, refs and logs. */
function everything(): string {
  const names = victim.run('find', ['.', '-not', '-path', './.git/*', '-print0'], { cwd: victim.path });
  const config = readFileSync(join(victim.path, '.git', 'config'), 'utf8');
  const hooks = victim.run('sh', ['-c', 'cat .git/hooks/*; ls -A .git/hooks']);
  return [
    names.stdout,
    config,
    hooks.stdout,
    victim.git(['status', '--porcelain']),
    victim.git(['ls-files', '-s']),
  ].join('\n');
}

function expectRefused(...words: string[]): string {
  const before = everything();
  victim.ok(['sync', '--fetch']);
  const run = victim.handoff(['unpack', 'half-done', '--merge', ...words]);
  expect([1, 6], run.stderr).toContain(run.status);
  expect(run.stdout).toBe('');
  expect(everything()).toBe(before);
  expect(existsSync(join(victim.root, 'escaped'))).toBe(false);
  return run.stderr;
}

describe('a hostile work commit changes no file', () => {
  it.each([
    '../escaped',
    '/tmp/escaped',
    'dir/../../escaped',
    './escaped',
    '.git/hooks/pre-commit',
    '.GIT/config',
    'dir/.git/config',
    '.git /config',
    '.git::$INDEX_ALLOCATION/config',
    'git~1/config',
    '.g\u200cit/config',
    'dir//b.txt',
    'dir/',
    '',
    'nul\0byte',
  ])('that names %j', (path) => {
    forge(json([file(path)]), ['hostile\n']);
    expectRefused('--trust', path === '' || path.includes('\0') ? 'x' : path);
  });

  it.each([
    [
      'a path below a link that comes along',
      [file('link', { disk: ['120000', 0] }), file('link/escaped')],
      ['..'],
    ],
    ['a file below another file', [file('new'), file('new/inner')], ['x\n']],
    ['one path twice', [file('new'), file('new')], ['x\n']],
    ['a content that is not there', [file('new', { disk: ['100644', 7] })], ['x\n']],
    ['a negative number', [file('new', { disk: ['100644', -1] })], ['x\n']],
    ['a submodule', [file('new', { disk: ['160000', 0] })], ['x\n']],
    ['a folder', [file('new', { disk: ['040000', 0] })], ['x\n']],
    ['a mode that is none', [file('new', { disk: ['100777', 0] })], ['x\n']],
    ['a state that is none', [file('new', { disk: 'x' })], ['x\n']],
    ['no object', ['x'], ['x\n']],
    ['a path that is no text', [{ ...file('x'), path: 7 }], ['x\n']],
    ['half of a surrogate pair', [file('\ud800')], ['x\n']],
  ] as const)('with %s', (_what, items, contents) => {
    forge(json(items), contents);
    expectRefused('--trust', 'link');
  });

  it.each([
    ['no JSON', '{'],
    ['another version', json([], { version: 2 })],
    ['a base that is none', json([], { base: 'HEAD' })],
    ['items that are none', json([], { items: {} })],
    ['too many paths', json(Array.from({ length: 5001 }, (_, at) => file(`n${at}`)))],
  ])('with a work.json of %s', (_what, text) => {
    forge(text, ['x\n']);
    expectRefused();
  });

  it('with a hundred thousand entries', () => {
    const one = blob('x\n');
    const entries = Array.from({ length: 100_000 }, (_, at) => `100644 blob ${one}\t${at + 1}`);
    forge(json([file('new')]), ['x\n'], { entries });
    expect(expectRefused()).toContain('entries');
  });

  it('with a folder among its contents, with parents, or without trailers', () => {
    const inner = tree([`100644 blob ${blob('x\n')}\tinner`]);
    forge(json([file('new')]), ['x\n'], { entries: [`040000 tree ${inner}\t1`] });
    expectRefused();
    forge(json([file('new')]), ['x\n'], { entries: [`100644 blob ${blob('x')}\tnew`] });
    expectRefused();
    forge(json([file('new')]), ['x\n'], { hasParent: true });
    expectRefused();
    forge(json([file('new')]), ['x\n'], { message: 'no trailers\n' });
    expectRefused();
  });

  it('that has more bytes than it states', () => {
    victim.git(['config', 'handoff.maxWork', '10k']);
    forge(json([file('new')]), ['x'.repeat(20_000)], { size: '1 10' });
    expect(expectRefused()).toContain('handoff.maxWork');
    forge(json([file('new')]), ['x\n'], { size: '1 99999999' });
    expect(expectRefused()).toContain('99999999 bytes');
  });

  it('whose author differs from the author of its note', () => {
    forge(json([file('new')]), ['x\n']);
    victim.git(['config', 'user.email', 'other@example.org']);
    expect(expectRefused()).toContain('--from ada@example.org');
  });
});

it('a work commit like ours is unpacked', () => {
  forge(json([file('new')]), ['x\n']);
  victim.ok(['sync', '--fetch']);
  victim.ok(['unpack', 'half-done']);
  expect(readFileSync(join(victim.path, 'new'), 'utf8')).toBe('x\n');
});
