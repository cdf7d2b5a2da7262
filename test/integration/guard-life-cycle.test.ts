import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientProcess } from '../support/client-process.ts';
import { TestRepository } from '../support/repository.ts';
import { containing, lacking, matching } from '../support/matchers.ts';

const A = 'aaaaaaaa-1111-4111-8111-111111111111';
const B = 'bbbbbbbb-2222-4222-8222-222222222222';

let world: TestRepository;
let clients: ClientProcess[];

beforeEach(() => {
  world = new TestRepository();
  world.ok(['init', '--yes']);
  clients = [];
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.kill()));
  world.remove();
});

function client(cwd?: string): ClientProcess {
  const made = new ClientProcess(world, cwd);
  clients.push(made);
  return made;
}

/** The records of live refs, by session. */
function record(session: string): Readonly<Record<string, unknown>> | undefined {
  const [ref] = world.refs('refs/handoffs-local/live').filter((name) => name.endsWith(`/${session}`));
  return ref === undefined
    ? undefined
    : (JSON.parse(world.git(['cat-file', '-p', ref])) as Record<string, unknown>);
}

function loneSessionIn(gitDir = join(world.path, '.git')): string | undefined {
  const file = join(gitDir, 'handoff-solo');
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ')[0] : undefined;
}

/** Sessions that `git handoff sessions` shows as at work. */
function atWork(): string[] {
  const { items } = world.json(['sessions']);
  return items
    .filter(({ liveness }) => liveness === 'live')
    .map(({ session }) => String(session))
    .sort();
}

const beatOf = (session: string) => existsSync(join(world.path, '.git', 'handoff', 'beat', session));

describe('a session', () => {
  it('is recorded under its client when it starts, and is alone', async () => {
    const one = client();
    const answer = await one.start(A);
    expect(answer).toMatchObject({ kind: 'context', text: containing('you are claude aaaaaaaa on main;') });
    expect(record(A)).toMatchObject({
      session: A,
      client: 'claude',
      pid: one.pid,
      parent: null,
      ended: null,
    });
    expect(beatOf(A)).toBe(true);
    expect(loneSessionIn()).toBe(A);
    expect(atWork()).toEqual([A]);
    expect(world.git(['status', '--porcelain'])).toBe('');
  });

  it('that the guard never saw start is recorded at its first tool call', async () => {
    const one = client();
    expect(await one.tool(A)).toEqual({ kind: 'silent' });
    expect(record(A)).toMatchObject({ session: A, pid: one.pid });
    expect(loneSessionIn()).toBe(A);
  });

  it('hears of the one at work beside it, and neither is alone', async () => {
    await client().start(A);
    const answer = await client().start(B);
    expect(answer).toMatchObject({
      text: matching(/- claude aaaaaaaa is live in this worktree/),
    });
    expect(loneSessionIn()).toBeUndefined();
    expect(atWork()).toEqual([A, B]);
  });

  it('is recorded as ended when it ends', async () => {
    const [one, two] = [client(), client()];
    await one.start(A);
    await two.start(B);
    await one.end(A, 'logout');
    expect(record(A)).toMatchObject({ ended: { reason: 'logout' } });
    expect(beatOf(A)).toBe(false);
    expect(atWork()).toEqual([B]);
    // B was told everything when it began.
    expect(await two.start(B, 'compact')).toEqual({ kind: 'silent' });
    expect(loneSessionIn()).toBe(B);
  });

  it('leaves, if it ends alone, no file that would let sh decide', async () => {
    const one = client();
    await one.start(A);
    await one.end(A, 'other');
    expect(loneSessionIn()).toBeUndefined();
  });

  it('whose client was killed is gone at once', async () => {
    const one = client();
    await one.start(A);
    await one.kill();
    expect(atWork()).toEqual([]);
    expect(await client().start(B)).toMatchObject({ text: lacking('beside you') });
    expect(loneSessionIn()).toBe(B);
  });

  it('keeps its notes when it resumes in another process', async () => {
    const [one, two] = [client(), client()];
    await one.start(A);
    expect(
      (await one.shell(`CLAUDE_CODE_SESSION_ID=${A} git handoff write auth-refresh -m one`)).status,
    ).toBe(0);
    await one.end(A, 'prompt_input_exit');
    await one.kill();
    await two.start(A, 'resume');
    expect(record(A)).toMatchObject({ ended: null, pid: two.pid });
    expect(
      (await two.shell(`CLAUDE_CODE_SESSION_ID=${A} git handoff write auth-refresh -m two`)).status,
    ).toBe(0);
  });

  it('started inside another is its child, and no peer of it', async () => {
    const outer = client();
    await outer.start(A);
    const answer = await outer.nestedHook({
      hook_event_name: 'SessionStart',
      session_id: B,
      source: 'startup',
    });
    expect(record(B)).toMatchObject({ parent: A });
    expect(answer).toMatchObject({ text: lacking('beside you') });
  });
});

describe('a conversation that is cleared', () => {
  const write = (session: string, text: string) =>
    `CLAUDE_CODE_SESSION_ID=${session} git handoff write auth-refresh -m ${text}`;
  const trailers = () =>
    world.git(['log', '-1', '--format=%(trailers:only,unfold)', 'refs/handoffs/main/auth-refresh']);

  it('continues under its new id, which may write what the old one owned', async () => {
    const one = client();
    await one.start(A);
    expect((await one.shell(write(A, 'one'))).status).toBe(0);
    await one.end(A, 'clear');
    await one.start(B, 'clear');
    expect(record(B)).toMatchObject({ succeeds: A });
    expect(await one.shell(write(B, 'two'))).toMatchObject({ status: 0 });
    expect(trailers()).toContain(`Claude-Session-Id: ${B}`);
    expect(trailers()).toContain(`Handoff-Succeeds: ${A}`);
  });

  it.each([
    ['did not end by clear', 'logout', 'clear', true],
    ['did not start by clear', 'clear', 'startup', true],
    ['runs in another process', 'clear', 'clear', false],
  ])('is not taken over by one that %s', async (_, reason, source, sameProcess) => {
    const one = client();
    await one.start(A);
    expect((await one.shell(write(A, 'one'))).status).toBe(0);
    await one.end(A, reason);
    const two = sameProcess ? one : client();
    await two.start(B, source);
    expect(record(B)).toMatchObject({ succeeds: null });
    expect(await two.shell(write(B, 'two'))).toMatchObject({ status: 3 });
  });
});

describe('a process and its children', () => {
  it('are one session', async () => {
    const one = client();
    await one.start(A);
    expect(await one.nestedHook({ session_id: A, tool_name: 'Bash', tool_input: { command: 'ls' } })).toEqual(
      { kind: 'silent' },
    );
    expect(record(A)).toMatchObject({ pid: one.pid });
  });
});

describe('linked worktrees', () => {
  it('have one lone session each, which know of each other', async () => {
    const linked = world.worktree('feat/search');
    await client().start(A);
    const two = client(linked);
    expect(await two.start(B)).toMatchObject({
      text: matching(/- claude aaaaaaaa is live on main/),
    });
    expect(loneSessionIn()).toBe(A);
    expect(loneSessionIn(join(world.path, '.git', 'worktrees', 'worktree-feat-search'))).toBe(B);
    expect(await client().start('cccccccc-3333')).toMatchObject({
      text: matching(/claude bbbbbbbb is live on feat\/search/),
    });
    expect(loneSessionIn()).toBeUndefined();
    expect(loneSessionIn(join(world.path, '.git', 'worktrees', 'worktree-feat-search'))).toBe(B);
  });

  it('are protected from commands that reach in from another', async () => {
    const linked = world.worktree('feat/search');
    const [one, two] = [client(), client(linked)];
    await one.start(A);
    await two.start(B);
    expect(
      (await two.shell(`CLAUDE_CODE_SESSION_ID=${B} git handoff write auth-refresh -m one`)).status,
    ).toBe(0);
    const answer = await one.tool(
      A,
      `git -C ${linked} update-ref -d refs/handoffs/feat%2Fsearch/auth-refresh`,
    );
    expect(answer.kind).toBe('deny');
  });
});
