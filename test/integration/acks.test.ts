import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { START, type Json, TestRepository, finished } from '../support/repository.ts';

const [a, b] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const TOPIC = 'refs/handoffs/main/auth-refresh';
const ackRef = (reader: string) => `refs/handoffs-local/acks/main/auth-refresh/${reader}`;
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['write', 'auth-refresh', '-m', 'first'], { session: a });
});
afterEach(() => repo.remove());

const isUnread = (session?: string, env = {}) =>
  repo.json(['show', 'auth-refresh'], { env, ...(session === undefined ? {} : { session }) })['unread'];
const unread = (session: string) =>
  repo.json(['list', '--unread'], { session }).items.map(({ topic }) => topic);
const rewrite = (text = 'second') => repo.noted(['write', 'auth-refresh', '-m', text], { session: a });

describe('what is unread', () => {
  it('is what another session wrote, until it is acknowledged, and again when it changes', () => {
    expect([unread(a), unread(b)]).toEqual([[], ['auth-refresh']]);
    expect(repo.ok(['ack', 'auth-refresh'], { session: b })).toBe(
      `marked main/auth-refresh as read (${repo.ref(TOPIC)?.slice(0, 7)})`,
    );
    expect(repo.ref(ackRef(b))).toBe(repo.ref(TOPIC));
    expect([unread(b), isUnread(b), isUnread('cccccccc-3')]).toEqual([[], false, true]);
    rewrite();
    expect([unread(b), isUnread(b), unread(a)]).toEqual([['auth-refresh'], true, []]);
  });

  it('is reported as empty if there is nothing unread', () => {
    expect(repo.handoff(['list', '--unread'], { session: a })).toMatchObject({
      status: 0,
      stdout: 'no matching handoffs (all: git handoff list --all)\n',
    });
  });

  it('is not changed by reading', () => {
    const refs = () => repo.git(['for-each-ref']);
    const before = refs();
    for (const words of [
      ['list', '--unread'],
      ['list', '--json'],
      ['show', '--json'],
      ['log', 'auth-refresh', '--json'],
    ])
      repo.ok(words, { session: b });
    expect(refs()).toBe(before);
  });

  it('is known for each version: those before the acknowledged one are read', () => {
    const first = repo.ref(TOPIC) ?? '';
    repo.ok(['ack', 'auth-refresh'], { session: b });
    rewrite();
    const versions = repo.json(['log', 'auth-refresh'], { session: b }).items;
    expect(versions.map((item) => item['unread'])).toEqual([true, false]);
    expect(repo.json(['show', 'auth-refresh', '--at', first], { session: b })['unread']).toBe(false);
    repo.ok(['ack', 'auth-refresh'], { session: b });
    expect(repo.json(['show', 'auth-refresh', '--at', first], { session: b })['unread']).toBe(false);
  });

  it('is not what the same person wrote, known by the e-mail address', () => {
    repo.ok(['write', 'other-note', '-m', 'x']);
    expect(repo.json(['show', 'other-note'])['unread']).toBe(false);
    expect(
      repo.json(['show', 'other-note'], { env: { GIT_COMMITTER_EMAIL: 'x@example.org' } })['unread'],
    ).toBe(true);
  });

  it('stays the same for an operator in each new session', () => {
    repo.git(['config', 'handoff.operator', 'bob']);
    repo.ok(['ack', 'auth-refresh'], { session: b });
    expect(repo.ref(ackRef('bob'))).toBe(repo.ref(TOPIC));
    expect(unread('cccccccc-3')).toEqual([]);
    repo.ok(['write', 'other-note', '-m', 'x', '--to', 'alice'], { session: b });
    expect(unread('cccccccc-3')).toEqual([]);
    repo.git(['config', 'handoff.operator', 'alice']);
    expect(unread('cccccccc-3').sort()).toEqual(['auth-refresh', 'other-note']);
  });
});

describe('list --to', () => {
  it('finds what is addressed to an operator, without reading a note', () => {
    repo.ok(['write', 'for-bob', '-m', 'x', '--to', 'bob'], { session: a });
    repo.ok(['write', 'for-any', '-m', 'x', '--tag', 'y'], { session: a });
    const to = (...words: string[]) =>
      repo.json(['list', ...words], { session: b }).items.map(({ topic }) => topic);
    expect(to('--to', 'bob')).toEqual(['for-bob']);
    expect(to('--to', 'anyone')).toEqual(['for-any']);
    expect(to('--to', 'me')).toEqual([]);
    repo.git(['config', 'handoff.operator', 'bob']);
    expect(to('--to', 'me')).toEqual(['for-bob']);
    expect(to('--to', 'me', '--unread')).toEqual(['for-bob']);
    repo.ok(['ack', 'for-bob'], { session: b });
    expect(to('--to', 'me', '--unread')).toEqual([]);
    expect(repo.handoff(['list', '--to', 'b b']).status).toBe(2);
    repo.ok(['close', 'for-bob'], { session: a });
    expect(repo.json(['list', '--to', 'bob', '--all'], { session: b }).items).toMatchObject([
      { to: 'bob', from: 'aaaaaaaa-1111', state: 'closed' },
    ]);
  });
});

describe('ack', () => {
  it('counts once, however often it runs', () => {
    expect(repo.json(['ack', 'auth-refresh'], { session: b })).toMatchObject({ changed: true, reader: b });
    expect(repo.json(['ack', 'auth-refresh'], { session: b })).toMatchObject({
      changed: false,
      unread: false,
    });
  });

  it('acknowledges only the version that was read, not one written since', () => {
    const read = String(repo.json(['show', 'auth-refresh'], { session: b })['oid']);
    rewrite();
    const { status, stderr } = repo.handoff(['ack', 'auth-refresh', '--expect', read], { session: b });
    expect(status).toBe(4);
    expect(stderr).toContain(`it is at ${repo.ref(TOPIC)}`);
    expect(stderr).toContain('hint: git handoff show main/auth-refresh');
    expect(repo.ref(ackRef(b))).toBeUndefined();
    expect(isUnread(b)).toBe(true);
    const now = repo.ref(TOPIC) ?? '';
    expect(repo.handoff(['ack', 'auth-refresh', '--expect', now], { session: b }).status).toBe(0);
  });

  it('needs a handoff and a reader', () => {
    expect(repo.handoff(['ack', 'no-such-topic'], { session: b }).status).toBe(1);
    repo.git(['config', '--global', '--unset', 'user.email']);
    const { status, stderr } = repo.handoff(['ack', 'auth-refresh']);
    expect(status).toBe(2);
    expect(stderr).toContain('hint: git config user.email');
  });

  it('by eight processes at once leaves each at the tip', async () => {
    const processes = Array.from({ length: 8 }, () =>
      finished(repo.start(process.execPath, [...START, 'ack', 'auth-refresh', '--json'], { session: b })),
    );
    const done = await Promise.all(processes);
    expect(done.map(({ status }) => status)).toEqual(Array(8).fill(0));
    expect(done.some(({ stdout }) => stdout.includes('"changed":true'))).toBe(true);
    expect(repo.ref(ackRef(b))).toBe(repo.ref(TOPIC));
    expect(repo.locks()).toEqual([]);
  });

  it('beside writes never leaves an older version acknowledged than it reported', async () => {
    const processes = Array.from({ length: 6 }, (_, at) =>
      at % 2 === 0
        ? finished(repo.start(process.execPath, [...START, 'ack', 'auth-refresh', '--json'], { session: b }))
        : finished(
            repo.start(process.execPath, [...START, 'write', 'auth-refresh', '-m', `${at}`], {
              session: a,
            }),
          ),
    );
    const done = await Promise.all(processes);
    expect(done.map(({ status }) => status)).toEqual(Array(6).fill(0));
    const answered = done
      .filter((_, at) => at % 2 === 0)
      .map(({ stdout }) => String((JSON.parse(stdout) as Json)['oid']));
    const history = repo.git(['rev-list', '--first-parent', TOPIC]).split('\n');
    const at = history.indexOf(repo.ref(ackRef(b)) ?? '');
    expect(at).toBe(Math.min(...answered.map((oid) => history.indexOf(oid))));
  });
});
