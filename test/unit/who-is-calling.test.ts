import { describe, expect, it } from 'vitest';
import { type IdentityFacts, callingSession, type SessionRecord } from '../../src/domain/session.ts';
import type { ProcessTable } from '../../src/host/processes.ts';
import { type Context, findSession } from '../../src/sessions/caller.ts';
import { oidOf, sessionOf } from '../support/chain.ts';
import { recordOf } from '../support/session-record.ts';

const [a, b] = [sessionOf('a'), sessionOf('b')];
/** A shell (30) in a client (20), which was started in another client's shell (10). */
const ancestors = [
  { pid: 30, start: '300' },
  { pid: 20, start: '200' },
  { pid: 10, start: '100' },
];
const inner = recordOf(a, { pid: 20, start: '200' });
const outer = recordOf(b, { pid: 10, start: '100' });

const machine = { bootId: 'boot', pidNs: 'ns' };

function decide(records: readonly SessionRecord[], variables: Readonly<Record<string, string>> = {}) {
  const facts: IdentityFacts = { ancestors, records, ...machine, variable: (name) => variables[name] };
  return callingSession(facts);
}

const claude = (id: string) => ({ CLAUDE_CODE_SESSION_ID: id });

describe('the nearest ancestor that is a session on record', () => {
  it('is the writer, without any variable', () => {
    expect(decide([inner])).toEqual({ id: a, client: 'claude' });
  });

  it('is chosen before the session that it was started in', () => {
    expect(decide([outer, inner])).toMatchObject({ id: a });
  });

  it('counts more than an inherited variable', () => {
    expect(decide([outer, inner], claude(b))).toMatchObject({ id: a });
    expect(decide([inner], claude('somebody-else'))).toMatchObject({ id: a });
  });

  it('is not a process that only has the same pid', () => {
    expect(decide([recordOf(a, { pid: 20, start: '999' })])).toBeUndefined();
  });

  it.each([
    ['another boot', { bootId: 'other' }],
    ['another pid namespace', { pidNs: 'other' }],
    ['no boot id', { bootId: null }],
    ['no pid', { pid: null }],
  ])('is not told from a record of %s', (_what, place) => {
    expect(decide([recordOf(a, { pid: 20, start: '200', ...place })])).toBeUndefined();
  });
});

describe('the caller from a process that reported two sessions', () => {
  const both = [inner, recordOf(b, { pid: 20, start: '200' })];

  it('is the one that the variable names', () => {
    expect(decide(both, claude(b))).toMatchObject({ id: b });
    expect(decide(both, { GEMINI_SESSION_ID: a })).toMatchObject({ id: a });
  });

  it('is neither of the two without a variable', () => {
    expect(decide(both)).toBeUndefined();
  });
});

describe('a variable', () => {
  it('counts if its session has no record', () => {
    expect(decide([], claude(a))).toEqual({ id: a, client: 'claude' });
  });

  it('does not count if its session is provably no ancestor', () => {
    expect(decide([recordOf(a, { pid: 77, start: '700' })], claude(a))).toBeUndefined();
  });

  it('counts if its session is in another pid namespace', () => {
    expect(decide([recordOf(a, { pid: 77, start: '700', pidNs: 'container' })], claude(a))).toMatchObject({
      id: a,
    });
  });

  it('is skipped for the next one that may be true', () => {
    const variables = { ...claude(a), CODEX_THREAD_ID: b };
    expect(decide([recordOf(a, { pid: 77, start: '700' })], variables)).toMatchObject({
      id: b,
      client: 'codex',
    });
  });

  it('of ours counts before the clients’, a root session’s before its thread’s', () => {
    expect(decide([], { ...claude(a), GIT_HANDOFF_SESSION: b })).toMatchObject({ id: b });
    expect(decide([], { CODEX_THREAD_ID: a, CODEX_SESSION_ID: b })).toMatchObject({ id: b });
  });

  it.each(['', 'null', 'a b', '../x', 'person-0123456789ab'])('with the value %j is ignored', (value) => {
    expect(decide([], claude(value))).toBeUndefined();
  });
});

describe('--session', () => {
  function find(option: string, records: readonly SessionRecord[], env: NodeJS.ProcessEnv = {}) {
    const parents = new Map(ancestors.map(({ pid }, n) => [pid, ancestors[n + 1]?.pid]));
    const table: Partial<ProcessTable> = {
      ...machine,
      parentOf: (pid) => parents.get(pid),
      startOf: (pid) => ancestors.find((one) => one.pid === pid)?.start,
    };
    const context: Partial<Context> = { env, clientPid: 30, processes: () => table as ProcessTable };
    const stored = records.map((record) => ({ worktreeId: 'main', oid: oidOf(1), record }));
    return findSession(context as Context, stored, option);
  }

  it('names a session if none is known', () => {
    expect(find(a, [])).toMatchObject({ id: a, client: undefined });
  });

  it('may repeat what is already known', () => {
    expect(find(a, [inner])).toMatchObject({ id: a, client: 'claude' });
  });

  it('may not contradict a record or a variable', () => {
    const message = `--session ${b} conflicts with the session that runs this command`;
    expect(() => find(b, [inner])).toThrow(message);
    expect(() => find(b, [], claude(a))).toThrow(message);
  });

  it('must be an id', () => {
    expect(() => find('current', [])).toThrow('not a session id: "current"');
  });
});
