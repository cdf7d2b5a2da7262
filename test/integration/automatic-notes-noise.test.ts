import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteSections } from '../../src/domain/note/sections.ts';
import { A, B, C, SharingWorld, contextText } from '../support/sharing-world.ts';

const TOPIC_A = 'session-aaaaaaaa';
const REF_A = `refs/handoffs/main/${TOPIC_A}`;
let world: SharingWorld;

beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

const automaticRefs = () => world.refs('refs/handoffs').filter((ref) => ref.includes('/session-'));
const openNotes = () =>
  (world.json(['list']).items as { topic: string }[])
    .map(({ topic }) => topic)
    .filter((one) => one.startsWith('session-'));
const commit = (session: string, name: string) =>
  world.bash(session, `echo x > ${name} && git add ${name} && git commit -qm "Add ${name}"`);

describe('a session that ends by itself leaves no automatic note', () => {
  it('when it has committed all that it did', () => {
    for (let day = 0; day < 3; day++) {
      const session = `${10000000 + day}-1111-4111-8111-111111111111`;
      world.begin(session);
      commit(session, `f${day}.txt`);
      world.end(session);
    }
    expect(automaticRefs()).toEqual([]);
  });

  it('when, since its own note, it has only committed', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    world.write(A, 'src/b.ts', 'x\n');
    world.ok(['write', 'auth-refresh', '-m', 'b is not done'], { session: A });
    const GIT_COMMITTER_DATE = new Date(Date.now() + 5000).toISOString();
    world.git(['commit', '-qm', `a\n\nClaude-Session-Id: ${A}`, 'src/a.ts'], { env: { GIT_COMMITTER_DATE } });
    world.end(A);
    expect(automaticRefs()).toEqual([]);
  });

  it('when it has only switched to a branch with others’ commits', () => {
    const env = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' };
    world.git(['switch', '-q', '-c', 'old']);
    world.git(['commit', '-q', '--allow-empty', '-m', 'of somebody'], { env });
    world.git(['switch', '-q', 'main']);
    world.begin(A);
    world.bash(A, 'git switch -q old');
    const compact = { session_id: A, hook_event_name: 'PreCompact', trigger: 'auto' };
    world.guard(compact);
    world.end(A);
    expect(automaticRefs()).toEqual([]);
  });
});

it('an automatic note is closed when its session has committed what was left', () => {
  world.begin(A);
  world.write(A, 'src/a.ts', 'x\n');
  world.guard({ session_id: A, hook_event_name: 'PreCompact', trigger: 'auto' });
  world.bash(A, 'git commit -qam all');
  world.end(A);
  expect(openNotes()).toEqual([]);
});

describe('an automatic note is closed', () => {
  const left = () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    world.end(A);
    expect(openNotes()).toEqual([TOPIC_A]);
  };

  it('when another session has committed the work: nobody hears of it any more', () => {
    left();
    expect(contextText(world.begin(B))).toContain(TOPIC_A);
    world.bash(B, 'git commit -qam "work of A"');
    world.end(B);
    expect(contextText(world.begin(C))).not.toContain(TOPIC_A);
    expect(openNotes()).toEqual([]);
  });

  it('when its session itself has undone the work', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    world.guard({ session_id: A, hook_event_name: 'PreCompact', trigger: 'auto' });
    expect(openNotes()).toEqual([TOPIC_A]);
    world.bash(A, 'git restore src/a.ts');
    world.end(A);
    expect(openNotes()).toEqual([]);
  });

  it('when the same conversation continues, which hears of it once; it is left again when that ends', () => {
    left();
    expect(contextText(world.begin(A, world.path, 'resume'))).toContain(TOPIC_A);
    expect(openNotes()).toEqual([]);
    expect(contextText(world.begin(B))).not.toContain(TOPIC_A);
    world.end(A);
    expect(openNotes()).toEqual([TOPIC_A]);
  });

  it('not while some of the work is there', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'x\n');
    world.write(A, 'src/b.ts', 'x\n');
    world.end(A);
    world.begin(B);
    world.bash(B, 'git commit -qm "half" src/a.ts');
    world.end(B);
    expect(contextText(world.begin(C))).toContain(TOPIC_A);
  });
});

it('an announced compression in Gemini CLI, which may never happen, leaves no note', () => {
  world.begin(A);
  world.write(A, 'src/a.ts', 'x\n');
  const input = JSON.stringify({
    session_id: A,
    hook_event_name: 'PreCompress',
    trigger: 'auto',
    cwd: world.path,
  });
  expect(world.handoff(['guard', '--client', 'gemini'], { input })).toMatchObject({ status: 0, stdout: '' });
  expect(automaticRefs()).toEqual([]);
});

it('a lone session that has committed everything hears nothing when it compacts, clears or resumes', () => {
  world.begin(A);
  commit(A, 'done.txt');
  world.guard({ session_id: A, hook_event_name: 'PreCompact', trigger: 'auto' });
  expect(world.begin(A, world.path, 'compact')).toEqual({ kind: 'silent' });
  world.end(A);
  expect(world.begin(A, world.path, 'resume')).toEqual({ kind: 'silent' });
  expect(automaticRefs()).toEqual([]);
});

it('a note is not stale because its session itself deleted, renamed or moved files', () => {
  world.begin(A);
  rmSync(join(world.path, 'src/a.ts'));
  renameSync(join(world.path, 'src/b.ts'), join(world.path, 'src/c.ts'));
  mkdirSync(join(world.path, 'new'));
  for (const name of ['1', '2', '3']) writeFileSync(join(world.path, 'new', name), name);
  world.end(A);
  world.begin(B);
  const { state, importantFiles } = noteSections(world.git(['show', `${REF_A}:handoff.md`]));
  expect(state).toContain('  - `src/a.ts` (deleted)\n');
  expect(importantFiles).toBe('- `new/1`\n- `new/2`\n- `new/3`\n- `src/c.ts`');
  const { status, stdout } = world.handoff(['boot', TOPIC_A], { session: B });
  expect(stdout).toContain('4 paths uncommitted, as many as when the note was written');
  expect(status).toBe(0);
});
