import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BootWorld, NOTE, READER, WRITER } from '../support/boot-world.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: BootWorld;
beforeEach(() => {
  world = new BootWorld();
});
afterEach(() => world.remove());

const write = (name: string, text: string) => writeFileSync(join(world.path, name), text);
const later = { env: { GIT_COMMITTER_DATE: '2026-02-02T03:04:05Z' } };

describe('the working tree against the recorded one', () => {
  it('as many uncommitted paths, more, fewer, or none', () => {
    write('one.txt', 'x\n');
    write('new.txt', 'x\n');
    world.leave('login-flow');
    expect(world.boot().codes).toEqual(['branch-here', 'head-equal']);
    expect(world.boot().text('tree-as-then')).toBe(
      '2 paths uncommitted, as many as when the note was written',
    );
    write('two.txt', 'x\n');
    expect(world.boot().text('tree-more')).toBe('3 paths uncommitted; 2 when the note was written');
    world.git(['checkout', '-q', '--', '.']);
    expect(world.boot().text('tree-fewer')).toBe(
      '1 path uncommitted; 2 paths uncommitted when the note was written',
    );
    world.git(['clean', '-qfd']);
    expect(world.boot()).toMatchObject({ stale: false, codes: ['branch-here', 'head-equal', 'tree-fewer'] });
  });

  it('a merge is unfinished', () => {
    world.leave('login-flow');
    world.git(['switch', '-q', '-c', 'clash', 'main']);
    world.commit('clash', { 'one.txt': 'clash\n' });
    world.git(['switch', '-q', 'feature']);
    world.run('git', ['merge', 'clash']);
    expect(world.boot().codes).toEqual(['branch-here', 'head-equal', 'tree-more', 'tree-operation']);
  });
});

describe('who else is there', () => {
  it('newer notes of the branch, about other work or the same', () => {
    world.leave('login-flow');
    expect(world.boot('login-flow').codes).toEqual(['branch-here', 'head-equal']);
    world.run('sleep', ['1.1']);
    world.leave('other-work', [], { session: READER });
    expect(world.boot('login-flow')).toMatchObject({
      stale: false,
      codes: ['branch-here', 'head-equal', 'sibling-newer'],
    });
    world.leave('login-flow-again', [], { session: READER });
    const found = world.boot('login-flow', { session: 'cccccccc-3333-4333-8333-333333333333' });
    expect(found.stale).toBe(true);
    expect(found.text('sibling-replaces')).toBe(
      'feature/login-flow-again of claude bbbbbbbb is newer and looks like the same work',
    );
    expect(world.boot('login-flow')).toMatchObject({
      stale: false,
      codes: ['branch-here', 'head-equal', 'sibling-newer', 'sibling-newer'],
    });
    expect(world.boot('login-flow-again').codes).toContain('sibling-overlap');
    world.ok(['close', 'login-flow-again'], { session: READER, ...later });
    expect(world.boot('login-flow')).toMatchObject({ stale: false });
  });

  it('the owner at work, and its uncommitted paths', () => {
    const shared = new SharingWorld();
    try {
      shared.begin(A);
      shared.begin(B);
      shared.write(A, 'src/a.ts', 'changed\n');
      shared.ok(['write', 'login-flow', '-m', 'x'], { session: A });
      const codes = (session: string) =>
        (shared.json(['boot'], { session })['findings'] as { code: string; verdict: string; text: string }[])
          .filter(({ verdict }) => verdict === 'changed')
          .map(({ code, text }) => `${code}: ${text}`);
      expect(codes(B)).toEqual([
        'tree-others: 1 path is uncommitted work of claude aaaaaaaa, which is live',
        'owner-live: its owner, claude aaaaaaaa, is at work now and may be doing this',
      ]);
      expect(codes(A)).toEqual([]);
      shared.end(A);
      expect(codes(B)).toEqual([]);
    } finally {
      shared.remove();
    }
  });
});

describe('what a session is told', () => {
  it('goal, what holds, what does not, next action, stop conditions', () => {
    world.leave('login-flow', ['one.txt', 'gone.txt']);
    const { status, stdout } = world.handoff(['boot'], { session: READER });
    expect(status).toBe(1);
    const titles = stdout.split('\n').filter((line) => /^[A-Z].*:$/.test(line));
    expect(titles).toEqual([
      'Goal:',
      'Holds:',
      'Does not hold:',
      'Unknown:',
      'Next action, from before the note became stale:',
      'Stop conditions:',
    ]);
    expect(stdout).toContain('STALE, for one reason');
    expect(stdout).toContain('  | Run the tests.\n');
    expect(stdout).toMatch(/\nThe whole note: git handoff show feature\/login-flow\n$/);
  });

  it('that there is no next action', () => {
    world.leave('login-flow', [], { note: 'just some words\n\nand more' });
    const { stdout, status } = world.handoff(['boot']);
    expect(status).toBe(0);
    expect(stdout).toContain(
      'Goal (the note has no such heading, this is its summary):\n  | just some words\n',
    );
    expect(stdout).toContain('Next action: the note names no next action: ask before you begin\n');
    expect(world.boot().value).toMatchObject({ nextAction: null, stopConditions: null, goalIsSummary: true });
  });

  it('what the note says, bounded, and marked on every line so that it cannot look like our text', () => {
    const body = `# Goal\nx\n\nHolds:\n  branch  all is well\n\u001b[31mred\n# Next action\n${'word '.repeat(2000)}`;
    world.leave('login-flow', [], { note: body });
    const { stdout } = world.handoff(['boot']);
    expect(stdout).toContain('  | Holds:\n  |   branch  all is well\n  | \\u{1b}[31mred\n');
    expect(stdout.match(/^Holds:$/gm)).toHaveLength(1);
    expect(stdout.length).toBeLessThan(4000);
    expect(stdout).toContain('\n… the rest: git handoff show feature/login-flow\n');
  });

  it('from a structured note', () => {
    world.leave('login-flow', [], { note: `---\ntopic: login\ngoal: not this\n---\n${NOTE}` });
    expect(world.boot().value).toMatchObject({ goal: 'Log people in.', nextAction: 'Run the tests.' });
  });

  it('by the newest note of the branch that is open', () => {
    world.leave('first-work', [], { note: 'first' });
    world.run('sleep', ['1.1']);
    world.leave('second-work', [], { note: 'second' });
    expect(world.boot().value.topic).toBe('second-work');
    world.ok(['close', 'second-work'], { session: WRITER });
    expect(world.boot().value.topic).toBe('first-work');
  });

  it('by an automatic note only if no session wrote one', () => {
    world.leave('auto-left', [], { note: 'left' });
    // An automatic note has one more trailer than a written one.
    const commit = world.git(['cat-file', 'commit', 'refs/handoffs/feature/auto-left']);
    const oid = world.git(['hash-object', '-t', 'commit', '-w', '--stdin'], {
      input: `${commit}\nHandoff-Automatic: death\n`,
    });
    for (const ref of ['handoffs', 'handoffs-local/kept'])
      world.git(['update-ref', `refs/${ref}/feature/auto-left`, oid]);
    expect(world.boot()).toMatchObject({
      stale: false,
      codes: ['note-automatic', 'branch-here', 'head-equal'],
    });
    expect(world.boot().value.automatic).toBe('death');
    world.ok(['write', 'written-work', '-m', 'x'], { session: WRITER });
    world.run('sleep', ['1.1']);
    expect(world.boot().value.topic).toBe('written-work');
  });

  it('that there is no note', () => {
    const { status, stdout, stderr } = world.handoff(['boot']);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe('error: there is no open handoff on feature\nhint: git handoff list --all\n');
    expect(world.handoff(['boot', 'no-such']).status).toBe(1);
  });
});
