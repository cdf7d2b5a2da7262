import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_CODES, type FailureCode } from '../../src/domain/messages.ts';
import { type Schema, violations } from '../support/json-schema.ts';
import { type Json, TestRepository } from '../support/repository.ts';
import { TOKEN } from '../support/secrets.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../schema/output.schema.json', import.meta.url), 'utf8'),
) as Schema & { $defs: Readonly<Record<string, unknown>> };
const [a, b] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
let repo: TestRepository;

/** Runs a verb with `--json`; its one line must match the named definition and the whole schema. */
function answer(
  definition: string,
  status: number,
  words: string[],
  session?: string,
  cwd = repo.path,
): Json {
  const [verb = '', ...rest] = words;
  const done = repo.handoff([verb, '--json', ...rest], {
    cwd,
    ...(session === undefined ? {} : { session }),
  });
  expect(done.status, done.stderr).toBe(status);
  expect(done.stdout).toMatch(/^\{.*\}\n$/);
  const value = JSON.parse(done.stdout) as Json;
  expect(violations(schema, value, definition)).toEqual([]);
  expect(violations(schema, value)).toEqual([]);
  return value;
}

beforeAll(() => {
  repo = new TestRepository();
});
afterAll(() => repo.remove());

describe('every verb answers --json as the schema says', () => {
  it('before anything was written', () => {
    expect(answer('list', 0, ['list']).items).toEqual([]);
    expect(answer('sessions', 0, ['sessions']).items).toEqual([]);
    expect(answer('error', 1, ['show']).error.code).toBe('not-found');
  });

  it('completion', () => {
    expect(answer('completion', 0, ['completion', 'bash'])).toMatchObject({ shell: 'bash' });
  });

  it('write, show, log and list', () => {
    expect(answer('write', 0, ['write', 'auth-refresh', '-m', 'hello'], a)).toMatchObject({
      owner: a,
      parent: null,
    });
    expect(answer('show', 0, ['show'], b)).toMatchObject({ note: 'hello\n', unread: true, client: 'claude' });
    expect(answer('show', 0, ['show'], a)).toMatchObject({ unread: false });
    expect(answer('log', 0, ['log', 'auth-refresh']).items).toHaveLength(1);
    expect(answer('list', 0, ['list']).items).toHaveLength(1);
  });

  it('boot, for a note that holds and one that does not', () => {
    expect(answer('boot', 0, ['boot'], b)).toMatchObject({ stale: false, goal: 'hello', nextAction: null });
    const input = '# Goal\nx\n# Next steps\ny\n# Files\n- gone.txt\n';
    repo.handoff(['write', 'stale-note'], { session: b, input });
    expect(answer('boot', 1, ['boot', 'stale-note'], b)).toMatchObject({ stale: true, nextAction: 'y' });
    expect(answer('error', 1, ['boot', 'no-such-note']).error.code).toBe('not-found');
    repo.ok(['close', 'stale-note'], { session: b });
    repo.git(['branch', 'gone-branch']);
    repo.handoff(['write', 'gone-branch/some-work', '-m', 'x'], { session: b });
    repo.git(['branch', '-D', 'gone-branch']);
    expect(answer('list', 0, ['list'], b)).toMatchObject({
      items: [{ staleness: null }, { staleness: 'branch-deleted' }],
      looksDone: ['git handoff close gone-branch/some-work'],
    });
    repo.ok(['close', 'gone-branch/some-work'], { session: b });
  });

  it('a refused write and the text that was kept', () => {
    expect(answer('error', 1, ['write', 'other-work', '-m', TOKEN], a).error.code).toBe('secret');
    const { error } = answer('error', 3, ['write', 'auth-refresh', '-m', 'mine'], b);
    expect(error).toMatchObject({
      code: 'not-owner',
      lostRef: 'refs/handoffs-local/lost/main/auth-refresh/1',
    });
    expect(answer('lost', 0, ['show', 'auth-refresh', '--lost']).items).toHaveLength(1);
    expect(answer('lost', 0, ['show', 'auth-refresh', '--lost=1'])).toMatchObject({ note: 'mine\n' });
    expect(answer('lost', 0, ['show', 'other-topic', '--lost']).items).toEqual([]);
  });

  it('a structured note, and what is unread', () => {
    const words = ['write', 'for-bob', '-m', 'x', '--to', 'bob', '--tag', 'one', '--reference', 'commit:abc'];
    expect(answer('write', 0, words, a)).toMatchObject({ to: 'bob', from: a, unread: false });
    expect(answer('show', 0, ['show', 'for-bob'], b)).toMatchObject({
      structured: true,
      handoffId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      tags: ['one'],
      references: ['commit:abc'],
    });
    expect(answer('show', 0, ['show', 'auth-refresh'], b)).toMatchObject({
      structured: false,
      handoffId: null,
      to: null,
      from: null,
    });
    expect(answer('list', 0, ['list', '--unread', '--to', 'bob'], b).items).toHaveLength(1);
    expect(answer('ack', 0, ['ack', 'for-bob'], b)).toMatchObject({
      reader: b,
      changed: true,
      unread: false,
    });
    expect(answer('list', 0, ['list', '--unread', '--to', 'bob'], b).items).toEqual([]);
    answer('close', 0, ['close', 'for-bob'], a);
  });

  it('take and close', () => {
    expect(answer('take', 0, ['take', 'auth-refresh'], b)).toMatchObject({ taken: true, takenFrom: a });
    expect(answer('take', 0, ['take', 'auth-refresh'], b)).toMatchObject({ taken: false });
    expect(answer('close', 0, ['close', 'auth-refresh'], b)).toMatchObject({
      changed: true,
      state: 'closed',
    });
    expect(answer('close', 0, ['close', 'auth-refresh'], b)).toMatchObject({ changed: false });
  });

  it('log -p, reopen and delete --closed', () => {
    repo.ok(['write', 'old-work', '-m', 'one'], { session: a });
    expect(answer('logPatch', 0, ['log', '-p', 'old-work'], a)).toMatchObject({
      from: null,
      diff: '@@ -0,0 +1,1 @@\n+one\n',
    });
    repo.ok(['write', 'old-work', '-m', 'two'], { session: a });
    expect(answer('logPatch', 0, ['log', '-p', 'old-work'], a)).toMatchObject({
      diff: '@@ -1 +1 @@\n-one\n+two\n',
      from: { parent: null },
    });
    repo.ok(['close', 'old-work'], { session: a });
    expect(answer('close', 0, ['reopen', 'old-work'], a)).toMatchObject({ changed: true, state: 'open' });
    repo.ok(['close', 'old-work'], { session: a });
    expect(answer('deleteClosed', 0, ['delete', '--closed', '--older-than', '1h']).items).toEqual([]);
    repo.ok(['write', 'gone-work', '-m', 'a text of its own'], { session: a });
    expect(answer('delete', 0, ['delete', 'gone-work'])).toMatchObject({ deleted: false });
    expect(answer('delete', 0, ['delete', 'gone-work', '--yes'])).toMatchObject({ deleted: true });
    expect(answer('error', 1, ['delete', 'gone-work']).error.code).toBe('not-found');
    expect(answer('error', 2, ['delete', '--closed', '--older-than', 'soon']).error.code).toBe('usage');
  });

  it('a note that is not text', () => {
    const input = Buffer.from([0xff, 0x00, 0x80]);
    repo.handoff(['write', 'binary-note'], { session: a, input });
    expect(answer('show', 0, ['show', 'binary-note'])).toMatchObject({ noteBase64: '/wCA' });
  });

  it('init, sessions and doctor', () => {
    expect(answer('install', 0, ['init', '--diff'])).toMatchObject({ outcome: 'planned', changed: [] });
    expect(answer('install', 0, ['init', '--yes'])).toMatchObject({ outcome: 'applied' });
    expect(answer('install', 0, ['init', '--yes'])).toMatchObject({ outcome: 'unchanged' });
    repo.guard({ session_id: a, hook_event_name: 'SessionStart', source: 'startup' });
    repo.guard({ session_id: b, hook_event_name: 'SessionStart', source: 'startup' });
    repo.guard({ session_id: b, hook_event_name: 'SessionEnd', reason: 'clear' });
    expect(answer('sessions', 0, ['sessions', '--all']).items).toHaveLength(2);
    expect(answer('doctor', 0, ['doctor']).items.length).toBeGreaterThan(3);
  });

  it('overlap', () => {
    expect(answer('overlap', 0, ['overlap']).items).toEqual([]);
    repo.git(['branch', 'topic']);
    repo.git(['rm', '-q', 'a.txt']);
    repo.git(['worktree', 'add', '-q', join(repo.root, 'topic'), 'topic']);
    writeFileSync(join(repo.root, 'topic', 'a.txt'), 'changed\n');
    const [item] = answer('overlap', 1, ['overlap', 'topic']).items;
    expect(item).toMatchObject({ paths: [{ path: 'a.txt', kind: 'deleted', deletedBy: 0 }] });
    repo.git(['worktree', 'remove', '--force', join(repo.root, 'topic')]);
    repo.git(['reset', '-q', '--hard']);
    expect(answer('error', 2, ['overlap', 'nothing']).error.code).toBe('usage');
  });

  it('status, sessions with work, take of paths, check and rescue', () => {
    const shell = (command: string) => ({ tool_name: 'Bash', tool_input: { command } });
    const write = { tool_name: 'Write', tool_input: { file_path: join(repo.path, 'b.txt'), content: 'b\n' } };
    repo.guard({ session_id: a, hook_event_name: 'SessionStart', source: 'startup' });
    repo.guard({ session_id: b, hook_event_name: 'SessionStart', source: 'startup' });
    repo.guard({ ...write, session_id: b, hook_event_name: 'PreToolUse' });
    writeFileSync(join(repo.path, 'b.txt'), 'b\n');
    repo.guard({ ...write, session_id: b, hook_event_name: 'PostToolUse' });
    writeFileSync(join(repo.path, 'hand.txt'), 'x\n');
    const { items } = answer('status', 0, ['status'], a);
    expect(items.map(({ path, state, owner }) => [path, state, owner])).toEqual([
      ['b.txt', 'other', b],
      ['hand.txt', 'nobody', null],
    ]);
    const live = answer('sessions', 0, ['sessions']).items.find(({ session }) => session === b);
    expect(live).toMatchObject({ uncommitted: ['b.txt'] });
    repo.guard({ session_id: b, hook_event_name: 'Stop' });
    expect(answer('takePaths', 0, ['take', '--', 'b.txt'], a).items).toMatchObject([{ from: [b], to: a }]);
    expect(answer('takePaths', 0, ['take', '--', 'b.txt']).items).toMatchObject([{ from: [a], to: null }]);
    expect(answer('error', 1, ['take', '--', 'a.txt'], a).error.code).toBe('not-found');
    expect(answer('check', 0, ['check']).items).toEqual([]);
    const message = `x\n\nClaude-Session-Id: ${a}\nClaude-Session-Id: ${b}`;
    repo.git(['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', message]);
    repo.git(['update-ref', '-d', 'refs/handoffs/main/auth-refresh']);
    const kinds = answer('check', 1, ['check']).items.map(({ kind }) => kind);
    expect(kinds).toEqual(['mixed', 'illegal']);
    expect(answer('error', 2, ['check', 'nope..HEAD']).error.code).toBe('usage');
    repo.ok(['doctor', '--fix']);
    repo.git(['hash-object', '-w', '--stdin'], { input: 'lost\n' });
    repo.guard({ ...shell('git clean -f b.txt'), session_id: b, hook_event_name: 'PreToolUse' });
    const [rescued] = answer('rescueList', 0, ['rescue']).items;
    expect(rescued).toMatchObject({ kind: 'before', reason: 'git clean -f b.txt', session: b });
    expect(answer('rescueShow', 0, ['rescue', 'show', '1']).items[0]).toEqual({ path: 'b.txt', note: 'b\n' });
    expect(answer('rescueRestore', 0, ['rescue', 'restore', '1']).items[0]).toMatchObject({ written: false });
    const [found] = answer('rescueSearch', 0, ['rescue', 'search', 'c.txt']).items;
    expect(found).toMatchObject({ kind: 'blob', like: null, begins: 'lost' });
    const which = String(found?.['which']);
    expect(answer('rescueRestore', 0, ['rescue', 'restore', which, '--', 'c.txt'])['number']).toBe(null);
    expect(answer('error', 1, ['rescue', 'show', '99']).error.code).toBe('not-found');
    expect(answer('error', 2, ['rescue', 'throw']).error.code).toBe('usage');
    for (const name of ['b.txt', 'c.txt', 'hand.txt']) rmSync(join(repo.path, name));
  });

  it('import and export', () => {
    const file = join(repo.root, 'imported-note.md');
    writeFileSync(file, '# Imported\n');
    expect(answer('import', 0, ['import', '--dry-run', file], a).items).toMatchObject([
      { action: 'create', topic: 'imported-note', oid: null },
    ]);
    expect(answer('import', 0, ['import', file], a).items).toMatchObject([{ action: 'create', owner: a }]);
    const refused = { schema: 1, ok: false, dryRun: false, error: { code: 'usage' } };
    expect(answer('import', 2, ['import', '/dev/null'], a)).toMatchObject(refused);
    expect(answer('error', 2, ['import', join(repo.root, 'nothing')], a).error.code).toBe('usage');
    expect(answer('export', 0, ['export', 'imported-note']).note).toMatch(/# Imported\n$/);
    const copy = join(repo.root, 'copy.md');
    expect(answer('export', 0, ['export', 'imported-note', '-o', copy]).items).toMatchObject([
      { written: true },
    ]);
    expect(answer('error', 1, ['export', 'imported-note', '-o', file]).error.code).toBe('refused');
  });

  it('board', () => {
    expect(answer('board', 0, ['board'])).toMatchObject({ file: expect.any(String) as string });
    expect(answer('board', 0, ['board', '--output', '-'])).toMatchObject({ file: null });
    expect(answer('error', 2, ['board', '--port', '1']).error.code).toBe('usage');
  });

  it('uninstall', () => {
    expect(answer('install', 0, ['uninstall', '--yes'])).toMatchObject({ outcome: 'applied' });
  });

  it.each<[FailureCode, string[]]>([
    ['usage', ['write', 'fix', '-m', 'x']],
    ['usage', ['write', 'auth-refresh', '--frob']],
    ['usage', ['frobnicate']],
    ['lost-race', ['write', 'auth-refresh', '-m', 'x', '--expect', 'none']],
    ['not-found', ['log', 'no-such-topic']],
  ])('a failure %s', (code, words) => {
    expect(answer('error', EXIT_CODES[code], words, a).error.code).toBe(code);
  });

  it('a failure outside repositories', () => {
    expect(answer('error', 7, ['list'], a, repo.home).error.code).toBe('environment');
  });
});

describe('the schema', () => {
  it('lists exactly the existing codes', () => {
    const error = schema.$defs['error']! as {
      properties: { error: { properties: { code: { enum: string[] } } } };
    };
    expect([...error.properties.error.properties.code.enum].sort()).toEqual(Object.keys(EXIT_CODES).sort());
  });

  it('refuses an answer with an extra field, a missing one, or one of another type', () => {
    const good = answer('list', 0, ['list', '--all']);
    const [item] = good.items;
    const without = Object.fromEntries(Object.entries(item!).filter(([name]) => name !== 'owner'));
    for (const bad of [{ ...item, extra: 1 }, without, { ...item, unread: 'no' }, { ...item, oid: 'HEAD' }]) {
      expect(violations(schema, { ...good, items: [bad] }, 'list')).not.toEqual([]);
    }
    expect(violations(schema, { ...good, schema: 2 })).not.toEqual([]);
  });
});
