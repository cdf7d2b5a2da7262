import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';
import { type Schema, violations } from '../support/json-schema.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  received = [];
});
afterEach(() => world.remove());

const ASKS = 'claude bbbbbbbb wants to';

function standOff(content = 'one\n'): void {
  world.write(A, 'src/a.ts', content);
  refusal(world.write(B, 'src/a.ts', 'two\n'));
}

const D = 'dddddddd-4444-4444-8444-444444444444';

/** The texts that the asked session was told. */
let received: string[] = [];

/** The conversation continues under another id. */
function clear(former: string, next: string): void {
  world.end(former, world.path, 'clear');
  received.push(contextText(world.begin(next, world.path, 'clear')));
}

const editByB = () => refusal(world.try(B, 'src/a.ts', 'two\n'));

/** The guard's output after a file tool. */
function wrote(session: string, path: string, more: Readonly<Record<string, unknown>> = {}): string {
  writeFileSync(join(world.path, path), 'written\n');
  const tool_input = { file_path: join(world.path, path), content: 'written\n' };
  const payload = { session_id: session, hook_event_name: 'PostToolUse', tool_name: 'Write', tool_input };
  return world.guard({ ...payload, ...more }).stdout;
}

const handoff = (session: string, ...words: string[]) => world.ok(words, { session });
const SCHEMA = new URL('../../schema/output.schema.json', import.meta.url);
const requests = (session: string, verb = 'status'): Record<string, unknown>[] =>
  (JSON.parse(handoff(session, verb, '--json')) as { requests: Record<string, unknown>[] }).requests;

describe('a session that is in the way of an edit', () => {
  it('hears once, with its next call, what the other session wants, and the command that settles it', () => {
    standOff();
    refusal(world.write(B, 'src/a.ts', 'three\n'));
    const text = contextText(world.may(A, 'make'));
    expect(text).toContain(`${ASKS} edit src/a.ts`);
    expect(contextText(world.may(A, 'make'))).toBe('');
    const command = /git handoff commit .*$/m.exec(text)?.[0].replace('<message>', 'done') ?? '';
    expect(world.bash(A, command).run).toMatchObject({ status: 0 });
    expect(world.write(B, 'src/a.ts', 'two\n').kind).not.toBe('deny');
  });

  it('hears it with the result of a file tool, and can type the command in its folder', () => {
    standOff();
    const text = wrote(A, 'src/b.ts', { cwd: join(world.path, 'src') });
    expect(text).toContain(`${ASKS} edit src/a.ts`);
    expect(text).toContain(`git handoff commit -m '<message>' -- a.ts`);
  });

  it('hears it in its main agent: a sub-agent would keep it to itself', () => {
    standOff();
    expect(wrote(A, 'src/b.ts', { agent_id: 'one' })).not.toContain(ASKS);
    expect(wrote(A, 'src/b.ts')).toContain(ASKS);
  });

  it.each<[string, string, readonly (() => unknown)[]]>([
    ['before', C, [standOff, () => clear(A, C)]],
    ['after', C, [() => world.write(A, 'src/a.ts', 'one\n'), () => clear(A, C), editByB]],
    ['before it cleared it twice', D, [standOff, () => clear(A, C), () => clear(C, D)]],
  ])('finds it under the id that its conversation goes on with, when it was asked %s', (_, self, steps) => {
    for (const step of steps) step();
    received.push(contextText(world.may(self, 'make')), contextText(world.may(self, 'make')));
    expect(received.filter((text) => text.includes(`${ASKS} edit src/a.ts`))).toHaveLength(1);
    const request = { from: B, to: self, path: 'src/a.ts', handedAt: expect.stringMatching(/Z$/) as string };
    expect(requests(self)).toMatchObject([request]);
    expect(requests(self, 'sessions')).toMatchObject([request]);
  });

  it('hears it at its start, when it comes back', () => {
    standOff();
    expect(contextText(world.begin(A, world.path, 'resume'))).toContain(`${ASKS} edit src/a.ts`);
    expect(contextText(world.may(A, 'make'))).toBe('');
  });

  it('hears it through the launcher, too', () => {
    standOff();
    const input = { cwd: world.path, session_id: A, hook_event_name: 'PreToolUse', tool_name: 'Bash' };
    const call = { input: JSON.stringify({ ...input, tool_input: { command: 'make' } }) };
    const run = world.handoff(['guard', '--client', 'claude'], { ...call, calls: 'process' });
    expect(run.stdout).toContain(ASKS);
  });

  it.each<[string, () => void]>([
    ['its change is committed', () => world.as(A, ['commit', '-qm', 'a', '--', 'src/a.ts'])],
    ['its change is undone', () => world.git(['checkout', '--', 'src/a.ts'])],
    [
      'the other one takes it once it waits for its user',
      () => {
        world.stop(A);
        handoff(B, 'take', '--', 'src/a.ts');
      },
    ],
    ['the other one ends', () => world.end(B)],
  ])('finds nothing when %s', (_, settle) => {
    standOff();
    settle();
    expect(contextText(world.may(A, 'make'))).not.toContain('wants to');
    expect(wrote(A, 'src/b.ts')).not.toContain('wants to');
    expect(requests(A)).toEqual([]);
  });

  it('is asked again for what it changes later', () => {
    standOff();
    expect(contextText(world.may(A, 'make'))).toContain(ASKS);
    world.bash(A, 'git commit -qam a');
    standOff('another\n');
    expect(contextText(world.may(A, 'make'))).toContain(ASKS);
  });

  it('hears of each session that waits', () => {
    world.begin(C);
    standOff();
    refusal(world.write(C, 'src/a.ts', 'two\n'));
    const text = contextText(world.may(A, 'make'));
    expect(text).toContain(`${ASKS} edit src/a.ts`);
    expect(text).toContain('claude cccccccc wants to edit src/a.ts');
    expect(contextText(world.may(B, 'make'))).toBe('');
  });
});

describe('a session that is in the way', () => {
  it.each([
    ['git checkout -- src/a.ts', 'discard changes in src/a.ts'],
    ['git reset --hard', 'discard changes in src/a.ts'],
    ['git stash', 'stash src/a.ts'],
    ['echo x >> src/a.ts', 'edit src/a.ts'],
  ])('of %s finds a request', (command, wish) => {
    world.write(A, 'src/a.ts', 'one\n');
    refusal(world.may(B, command));
    expect(contextText(world.may(A, 'make'))).toContain(`${ASKS} ${wish}`);
  });

  it.each(['git commit -qam all', "git handoff commit -m x -- 'src/a.ts'"])('of %s hears it', (command) => {
    world.write(A, 'src/a.ts', 'one\n');
    world.write(B, 'src/b.ts', 'two\n');
    expect(world.bash(B, command).run?.status).not.toBe(0);
    expect(contextText(world.may(A, 'make'))).toContain(`${ASKS} commit src/a.ts`);
  });

  it('is not asked for what a person lets through', () => {
    world.write(A, 'src/a.ts', 'one\n');
    const allowed = join(world.path, '.git/handoff/allow');
    mkdirSync(allowed);
    writeFileSync(join(allowed, 'token'), `${JSON.stringify({ v: 1, session: null, at: Date.now() })}\n`);
    expect(world.may(B, 'git checkout -- src/a.ts').kind).not.toBe('deny');
    expect(contextText(world.may(A, 'make'))).not.toContain('wants to');
  });

  it('is asked for five paths by name, and for all of them by the command', () => {
    const names = Array.from({ length: 7 }, (_, n) => `src/n${n}.ts`);
    for (const name of names) world.write(A, name, 'one\n');
    refusal(world.may(B, `rm ${names.join(' ')}`));
    const text = contextText(world.may(A, 'make'));
    expect(text).toContain('src/n4.ts and 2 more');
    const command = /git handoff commit .*$/m.exec(text)?.[0].replace('<message>', 'done') ?? '';
    expect(world.bash(A, command).run).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([]);
  });

  it('causes a refusal even if the request cannot be written', () => {
    world.write(A, 'src/a.ts', 'one\n');
    rmSync(world.journal(B), { force: true });
    mkdirSync(world.journal(B));
    refusal(world.write(B, 'src/a.ts', 'two\n'));
  });
});

describe('in another worktree', () => {
  it('a session hears requests from sessions that visit its worktree, and from those of a worktree that it visited', () => {
    world.git(['worktree', 'add', '-q', '../beside']);
    const beside = join(world.path, '../beside');
    world.begin(C, beside);
    world.write(A, 'src/a.ts', 'one\n');
    refusal(world.try(C, join(world.path, 'src/a.ts'), 'two\n', beside));
    expect(contextText(world.may(A, 'make'))).toContain('claude cccccccc wants to edit src/a.ts');
    const file = join(beside, 'src/b.ts');
    const tool = { session_id: A, tool_name: 'Write', tool_input: { file_path: file, content: 'one\n' } };
    world.guard({ ...tool, hook_event_name: 'PreToolUse' });
    writeFileSync(file, 'one\n');
    world.guard({ ...tool, hook_event_name: 'PostToolUse' });
    refusal(world.write(C, 'src/b.ts', 'two\n', beside));
    const text = wrote(A, 'src/a.ts');
    expect(text).toContain('claude cccccccc wants to edit src/b.ts');
    const command =
      /git -C \S+ handoff commit .*? -- src\/b.ts/.exec(text)?.[0].replace('<message>', 'done') ?? '';
    expect(world.bash(A, command).run).toMatchObject({ status: 0 });
    expect(world.write(C, 'src/b.ts', 'two\n', beside).kind).not.toBe('deny');
  });
});

describe('the session that asked', () => {
  it('sees, like the owner, whether the request was delivered', () => {
    standOff();
    const open = { from: B, to: A, wish: 'edit', path: 'src/a.ts', worktree: world.path, handedAt: null };
    expect(requests(B)).toMatchObject([open]);
    expect(requests(A, 'sessions')).toMatchObject([open]);
    expect(handoff(B, 'status')).toContain(
      `${ASKS} edit src/a.ts (asked just now, waits for the next call of claude aaaaaaaa)`,
    );
    world.may(A, 'make');
    expect(requests(B, 'sessions')).toMatchObject([{ ...open, handedAt: expect.any(String) as string }]);
    for (const verb of ['status', 'sessions']) {
      expect(handoff(B, verb)).toContain('(asked just now, handed to claude aaaaaaaa just now)');
      const schema = JSON.parse(readFileSync(SCHEMA, 'utf8')) as Schema;
      expect(violations(schema, JSON.parse(handoff(B, verb, '--json')), verb)).toEqual([]);
    }
    world.end(B);
    expect(requests(A)).toEqual([]);
  });

  it('is still in `sessions` where git cannot read the worktree, and so is what the other session has changed', () => {
    standOff();
    writeFileSync(join(world.path, '.git', 'index'), 'no index');
    expect(requests(B, 'sessions')).toMatchObject([{ from: B, to: A, wish: 'edit', path: 'src/a.ts' }]);
    const { items } = world.json(['sessions']);
    expect(items.find(({ session }) => session === A)).toMatchObject({ uncommitted: ['src/a.ts'] });
  });

  it('no longer waits once it has committed its own part', () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.write(B, 'src/b.ts', 'two\n');
    expect(world.bash(B, 'git add -A && git commit -qm all').run?.status).not.toBe(0);
    expect(requests(B)).toMatchObject([{ from: B, to: A, wish: 'commit', path: 'src/a.ts' }]);
    expect(world.bash(B, 'git handoff commit -m mine -- src/b.ts').run?.status).toBe(0);
    for (const verb of ['status', 'sessions']) expect(requests(B, verb)).toEqual([]);
    expect(contextText(world.may(A, 'make'))).not.toContain(ASKS);
    expect(world.bash(B, 'git commit -qam all').run?.status).not.toBe(0);
    expect(contextText(world.may(A, 'make'))).toContain(`${ASKS} commit src/a.ts`);
  });

  it('hears that the other session is idle', () => {
    world.write(A, 'src/a.ts', 'one\n');
    const stopped = { session_id: A, hook_event_name: 'Stop' };
    world.guard(stopped);
    const ago = new Date(Date.now() - 5 * 60_000 - 1000);
    utimesSync(join(world.path, '.git/handoff/beat', A), ago, ago);
    expect(refusal(world.write(B, 'src/a.ts', 'two\n'))).toContain(
      'claude aaaaaaaa went idle 5 minutes ago.',
    );
    world.write(B, 'src/b.ts', 'two\n');
    expect(world.bash(B, 'git commit -qam all').run?.stderr).toContain(
      'claude aaaaaaaa went idle 5 minutes ago.',
    );
    world.may(A, 'make');
    expect(refusal(world.write(B, 'src/a.ts', 'two\n'))).not.toContain('idle');
  });
});
