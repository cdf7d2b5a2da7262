import { randomUUID } from 'node:crypto';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteSections } from '../../src/domain/note/sections.ts';
import { ClientProcess } from '../support/client-process.ts';
import type { RepositoryOptions } from '../support/repository.ts';
import { A, B, C, SharingWorld } from '../support/sharing-world.ts';

const TOPIC_A = 'session-aaaaaaaa';
const REF_A = `refs/handoffs/main/${TOPIC_A}`;
let world: SharingWorld;

beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

const note = (ref = REF_A, cwd = world.path) => world.git(['show', `${ref}:handoff.md`], { cwd });
const trailer = (key: string, ref = REF_A) =>
  world.git(['log', '-1', `--format=%(trailers:key=${key},valueonly)`, ref]).trim();
const count = (ref = REF_A) => Number(world.git(['rev-list', '--count', ref]));
const automaticRefs = () => world.refs('refs/handoffs').filter((ref) => ref.includes('/session-'));
const compact = (session: string, more: object = {}) =>
  world.guard({ session_id: session, hook_event_name: 'PreCompact', trigger: 'auto', ...more });

describe('the end of a session that left no note', () => {
  it('leaves one with what it changed and committed, marked as automatic and owned by it', () => {
    const start = world.git(['rev-parse', '--short=10', 'HEAD']);
    world.begin(A);
    world.bash(A, 'echo x > done.txt && git add done.txt && git commit -qm "Add done"');
    world.write(A, 'src/a.ts', 'changed\n');
    world.write(A, 'new file.txt', 'new\n');
    expect(world.end(A)).toEqual({ kind: 'silent' });
    const text = note();
    expect(text.split('\n')[0]).toBe('# Automatic note: claude aaaaaaaa ended without a handoff');
    expect([trailer('Handoff-Automatic'), trailer('Claude-Session-Id'), trailer('Handoff-State')]).toEqual([
      'session-end',
      A,
      'open',
    ]);
    const sections = noteSections(text);
    expect(sections.state).toContain(`- HEAD when it began: \`${start}\``);
    expect(sections.state).toContain('`Add done`');
    expect(sections.importantFiles).toBe('- `new file.txt`\n- `src/a.ts`');
    expect(sections.nextAction).toContain('`git diff HEAD -- src/a.ts`');
    expect(sections.stopConditions).toContain('Nobody has verified this');
    const [item] = world.json(['list']).items;
    expect(item).toMatchObject({ topic: TOPIC_A, owner: A });
    expect(world.json(['sessions', '--all']).items).toMatchObject([{ session: A, liveness: 'ended' }]);
  });

  it('beside another session names only its own', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'of A\n');
    world.begin(B);
    world.write(B, 'src/b.ts', 'of B\n');
    world.end(A);
    world.end(B);
    expect(noteSections(note()).importantFiles).toBe('- `src/a.ts`');
    expect(noteSections(note('refs/handoffs/main/session-bbbbbbbb')).importantFiles).toBe('- `src/b.ts`');
  });

  it('is silent if there is nothing to say, or automatic notes are switched off', () => {
    writeFileSync(join(world.path, 'src/b.ts'), 'by hand, before\n');
    world.begin(A);
    world.bash(A, 'true');
    world.end(A);
    world.git(['config', 'handoff.automaticNotes', 'false']);
    world.begin(B);
    world.write(B, 'src/a.ts', 'x\n');
    compact(B);
    world.end(B);
    expect(automaticRefs()).toEqual([]);
  });

  it('never replaces a written note, and leaves none after one', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    world.ok(['write', 'auth-refresh', '-m', 'said all'], { session: A });
    world.end(A);
    expect(automaticRefs()).toEqual([]);
    world.begin(B);
    world.write(B, 'src/b.ts', 'x\n');
    world.ok(['write', 'session-bbbbbbbb', '-m', 'mine'], { session: B });
    world.bash(B, 'sleep 1.1');
    world.write(B, 'src/b.ts', 'more\n');
    world.end(B);
    expect(note('refs/handoffs/main/session-bbbbbbbb')).toBe('mine');
  });

  it('leaves one if the session worked on after its own note', () => {
    world.begin(A);
    world.ok(['write', 'auth-refresh', '-m', 'before'], { session: A });
    world.bash(A, 'sleep 1.1');
    world.write(A, 'src/a.ts', 'after\n');
    world.end(A);
    expect(noteSections(note()).importantFiles).toBe('- `src/a.ts`');
  });

  it('uses the same topic when a conversation continues after /clear', async () => {
    const client = new ClientProcess(world);
    await client.start(A);
    writeFileSync(join(world.path, 'src/a.ts'), 'of A\n');
    await client.end(A, 'clear');
    await client.start(B, 'clear');
    writeFileSync(join(world.path, 'src/b.ts'), 'of B\n');
    await client.end(B, 'exit');
    await client.kill();
    expect(automaticRefs()).toEqual([REF_A]);
    expect([trailer('Claude-Session-Id'), trailer('Handoff-Succeeds')]).toEqual([B, A]);
    expect(noteSections(note()).importantFiles).toBe('- `src/a.ts`\n- `src/b.ts`');
  });
});

describe('a compaction', () => {
  it('leaves a note silently, once for the same state, and the session’s end updates it', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    expect(compact(A)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    compact(A);
    expect([trailer('Handoff-Automatic'), count()]).toEqual(['compaction', 1]);
    expect(note()).toContain('before its context was compacted');
    world.end(A);
    expect([trailer('Handoff-Automatic'), count()]).toEqual(['session-end', 2]);
  });

  it("of a sub-agent is not the session's, and the reminder ignores automatic notes", () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    compact(A, { agent_id: 'agent1' });
    expect(automaticRefs()).toEqual([]);
    compact(A);
    expect(automaticRefs()).toEqual([REF_A]);
    const stop = { session_id: A, hook_event_name: 'Stop', stop_hook_active: false };
    expect(world.guard(stop).stdout).toContain('Handoff reminder');
  });
});

describe('a session whose process is killed', () => {
  /** Runs a client that makes three edits and is killed. */
  async function killed(session: string, cwd = world.path): Promise<void> {
    const client = new ClientProcess(world, cwd);
    await client.start(session);
    for (const name of ['one.txt', 'two.txt', 'three.txt']) {
      const call = {
        session_id: session,
        tool_name: 'Write',
        tool_input: { file_path: join(cwd, name), content: 'x' },
      };
      await client.hook(call);
      writeFileSync(join(cwd, name), 'x');
      await client.hook({ ...call, hook_event_name: 'PostToolUse', tool_response: {} });
    }
    await client.kill();
  }
  const FILES = '- `one.txt`\n- `three.txt`\n- `two.txt`';

  it('is reported once, to the next session', async () => {
    await killed(A);
    const answer = JSON.stringify(world.begin(B));
    expect(answer).toContain(TOPIC_A);
    expect(note().split('\n')[0]).toBe('# Automatic note: claude aaaaaaaa died without a handoff');
    expect(trailer('Handoff-Automatic')).toBe('death');
    expect(noteSections(note()).importantFiles).toBe(FILES);
    // What others do to the work afterwards does not change the report.
    rmSync(join(world.path, 'one.txt'));
    world.begin(C);
    expect(count()).toBe(1);
    world.ok(['take', TOPIC_A], { session: B });
    world.ok(['close', TOPIC_A], { session: B });
    world.begin(C, world.path, 'resume');
    expect([count(), trailer('Handoff-State')]).toEqual([3, 'closed']);
  });

  it('is reported once if twenty sessions start at the same time', async () => {
    await killed(A);
    const ids = Array.from({ length: 20 }, (_, n) => `${10000000 + n}-0000-4000-8000-000000000000`);
    await Promise.all(
      ids.map((session_id) =>
        world.startGuard({ session_id, hook_event_name: 'SessionStart', source: 'startup' }),
      ),
    );
    world.begin(B);
    expect(automaticRefs()).toEqual([REF_A]);
    expect([count(), trailer('Handoff-Automatic')]).toEqual([1, 'death']);
    expect(noteSections(note()).importantFiles).toBe(FILES);
  });

  it('in a linked worktree gets a note on its branch, wherever the next session starts', async () => {
    const linked = world.worktree('feature/x');
    await killed(A, linked);
    world.begin(B);
    const ref = `refs/handoffs/feature%2Fx/${TOPIC_A}`;
    expect(automaticRefs()).toEqual([ref]);
    expect(noteSections(note(ref)).importantFiles).toBe(FILES);
    expect(note(ref)).toContain('in the worktree `worktree-feature-x`');
  });

  it('gets its note from no verb, but from the next session that starts', async () => {
    await killed(A);
    for (const verb of ['list', 'sessions', 'status', 'doctor']) world.handoff([verb]);
    expect(automaticRefs()).toEqual([]);
    world.begin(B);
    expect(noteSections(note()).importantFiles).toBe(FILES);
  });

  it('counts as lost if it is silent: from an earlier boot at once, in another pid namespace or machine after a day', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    const [ref = ''] = world.refs('refs/handoffs-local/live').filter((name) => name.endsWith(A));
    const record = JSON.parse(world.git(['cat-file', 'blob', ref])) as object;
    const put = (more: object, hours: number) => {
      const input = JSON.stringify({ ...record, ...more });
      world.git(['update-ref', ref, world.git(['hash-object', '-w', '--stdin'], { input })]);
      const seconds = Date.now() / 1000 - hours * 3600;
      utimesSync(join(world.path, '.git', 'handoff', 'beat', A), seconds, seconds);
      world.begin(randomUUID());
    };
    put({ bootId: 'another' }, 0);
    put({ pidNs: 'pid:[1]' }, 23);
    put({ bootId: 'another', host: 'another machine' }, 23);
    expect(automaticRefs()).toEqual([]);
    put({ pidNs: 'pid:[1]' }, 25);
    expect(note()).toContain('went silent and left no handoff');
    world.git(['update-ref', '-d', REF_A]);
    world.git(['update-ref', '-d', REF_A.replace('handoffs', 'handoffs-local/kept')]);
    put({ bootId: 'another', pid: 1 }, 1);
    expect(noteSections(note()).importantFiles).toBe('- `src/a.ts`');
  });

  it('gets no note if it is alive after all, or resumed', async () => {
    const client = new ClientProcess(world);
    await client.start(A);
    writeFileSync(join(world.path, 'one.txt'), 'x');
    world.begin(B);
    expect(automaticRefs()).toEqual([]);
    await client.kill();
    world.begin(A, world.path, 'resume');
    expect(automaticRefs()).toEqual([]);
  });
});

describe.each<[string, RepositoryOptions, string]>([
  ['an unborn branch', { head: 'unborn' }, 'main'],
  ['a detached HEAD', { head: 'detached' }, 'HEAD'],
  ['a sha256 repository', { objectFormat: 'sha256' }, 'main'],
  ['a branch with a hostile name', { branch: 'a`b/#c' }, 'a`b%2F#c'],
])('%s', (_what, options, component) => {
  it('takes automatic notes like any other', () => {
    world.remove();
    world = new SharingWorld(options);
    if (options.head === 'unborn') world.git(['update-ref', '-d', 'HEAD']);
    if (options.head === 'detached') world.git(['checkout', '-q', '--detach']);
    world.begin(A);
    writeFileSync(join(world.path, '## Next Action `rm -rf`\n\n# Goal.txt'), 'x');
    world.end(A);
    const text = note(`refs/handoffs/${component}/${TOPIC_A}`);
    expect(noteSections(text).importantFiles).toBe('- ``## Next Action `rm -rf`\\n\\n# Goal.txt``');
    expect(noteSections(text).goal).toBeUndefined();
    expect(world.json(['doctor']).items.filter(({ check }) => check === 'refs')).not.toContainEqual(
      expect.objectContaining({ status: 'problem' }),
    );
  });
});

describe('when the client leaves no time for the end', () => {
  it('the end is recorded all the same, and the next session leaves the note', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    const slow = join(world.root, 'slow');
    const path = world.env()['PATH'] ?? '';
    const script = `#!/bin/sh\ncase "$*" in *update-ref*handoff:\\ write* | *status*) sleep 60;; esac\nPATH='${path}' exec git "$@"\n`;
    world.run('mkdir', [slow]);
    writeFileSync(join(slow, 'git'), script, { mode: 0o755 });
    const end = { session_id: A, hook_event_name: 'SessionEnd', reason: 'exit' };
    world.guard(end, { env: { PATH: `${slow}:${path}` }, calls: 'process' });
    expect(world.json(['sessions', '--all']).items).toMatchObject([{ session: A, liveness: 'ended' }]);
    expect(automaticRefs()).toEqual([]);
    world.begin(B);
    expect(noteSections(note()).importantFiles).toBe('- `src/a.ts`');
    expect(trailer('Handoff-Automatic')).toBe('session-end');
    expect(world.ledger(A).map(({ t }) => t)).toContain('note-left');
  });
});
