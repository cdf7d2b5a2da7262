import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { putToken } from '../../src/sessions/bypass.ts';
import { A, B, SharingWorld, contextText } from '../support/sharing-world.ts';

/** Which notes of another session a session may take, close or delete. */

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  world.ok(['write', 'auth-refresh', '-m', 'the retry test is red'], { session: A });
  world.write(A, 'src/a.ts', 'A\n');
});
afterEach(() => world.remove());

const byB = (words: readonly string[]) => world.handoff(words, { session: B });
const inFolder = (text: string) => text.replaceAll(world.path, '<top>');

const TAKES: readonly string[][] = [
  ['take', 'auth-refresh'],
  ['write', 'auth-refresh', '--take', '-m', 'mine now'],
  ['take', '--', 'src/a.ts'],
];
const ENDS: readonly string[][] = [
  ['close', 'auth-refresh', '--take'],
  ['delete', 'auth-refresh', '--yes', '--take'],
];

describe('what a session at work owns', () => {
  it.each([...TAKES, ...ENDS].map((words) => ({ words })))(
    'is not taken, closed or deleted by another session: $words',
    ({ words }) => {
      const before = world.refs();
      expect(byB(words).status).toBe(3);
      expect(world.refs().filter((ref) => !ref.includes('/lost/'))).toEqual(before);
      expect(world.as(A, ['commit', '-qm', 'a', '--', 'src/a.ts']).status).toBe(0);
      expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('the retry test is red');
    },
  );

  it('is refused, with what to do instead', () => {
    expect(inFolder(byB(['take', 'auth-refresh']).stderr)).toMatchInlineSnapshot(`
      "error: main/auth-refresh belongs to claude aaaaaaaa, which is at work: only the user may take it over now
      hint: git handoff show main/auth-refresh
      "
    `);
    expect(inFolder(byB(['write', 'auth-refresh', '-m', 'mine']).stderr)).toMatchInlineSnapshot(`
      "error: main/auth-refresh belongs to claude aaaaaaaa, which is at work; your text is kept, print it with: git handoff show main/auth-refresh --lost=1
      hint: git handoff show main/auth-refresh --lost=1 | git handoff write main/auth-refresh-cont --file -
      "
    `);
    expect(inFolder(byB(['take', '--', 'src/a.ts']).stderr)).toMatchInlineSnapshot(`
      "error: src/a.ts: uncommitted work of claude aaaaaaaa, which is at work; nothing was taken, and it will learn that you asked. Work on something else; if you cannot, ask the user
      hint: git -C <top> handoff status
      "
    `);
    expect(inFolder(byB(['close', 'auth-refresh', '--take']).stderr)).toMatchInlineSnapshot(`
      "error: main/auth-refresh belongs to claude aaaaaaaa, which is at work; a session closes only its own notes
      hint: git handoff show main/auth-refresh
      "
    `);
    expect(inFolder(byB(['delete', 'auth-refresh', '--yes']).stderr)).toMatchInlineSnapshot(`
      "error: main/auth-refresh belongs to claude aaaaaaaa, which is at work; a session deletes only its own notes: ask the user
      hint: git handoff show main/auth-refresh
      "
    `);
  });

  it('keeps the refused text, which the hint writes into a note beside it', () => {
    const { stderr } = byB(['write', 'auth-refresh', '-m', 'mine']);
    const [, hint = ''] = /^hint: (.*)$/m.exec(stderr) ?? [];
    expect(world.run('sh', ['-c', hint], { session: B })).toMatchObject({ status: 0 });
    expect(world.ok(['show', 'auth-refresh-cont', '--raw'])).toBe('mine');
  });

  it.each(TAKES.map((words) => ({ words })))('is a person’s to take: $words', ({ words }) => {
    expect(world.handoff(words).status).toBe(0);
  });

  it.each([...TAKES, ...ENDS])(
    'is taken, closed or deleted once when a person allows it: %s %s',
    (...words) => {
      const token = { v: 1, session: null, at: Date.now() } as const;
      putToken(join(world.path, '.git'), token);
      expect(byB(words).status).toBe(0);
      world.ok(['write', 'other-topic', '-m', 'A'], { session: A });
      expect(byB(['take', 'other-topic']).status).toBe(3);
    },
  );
});

describe('what a session that waits for its user owns', () => {
  it.each(TAKES.map((words) => ({ words })))(
    'is taken, on record, and it hears of that: $words',
    ({ words }) => {
      world.stop(A);
      expect(byB(words).status).toBe(0);
      expect(contextText(world.prompt(A))).toContain('took');
    },
  );

  it.each(TAKES.map((words) => ({ words })))(
    'is no longer taken from when its user has typed, before it uses a tool: $words',
    ({ words }) => {
      world.stop(A);
      world.prompt(A);
      expect(byB(words).status).toBe(3);
    },
  );

  it.each(ENDS.map((words) => ({ words })))('is neither closed nor deleted: $words', ({ words }) => {
    world.stop(A);
    expect(byB(words).status).toBe(3);
  });
});

describe('a closed note of another session', () => {
  beforeEach(() => {
    world.ok(['close', 'auth-refresh'], { session: A });
    world.stop(A);
  });

  it('is pruned by a person, not by a session', () => {
    const prune = ['delete', '--closed', '--older-than', '0m', '--yes'];
    expect(byB(prune)).toMatchObject({ status: 0 });
    expect(world.ref('refs/handoffs/main/auth-refresh')).toBeDefined();
    world.ok(prune);
    expect(world.ref('refs/handoffs/main/auth-refresh')).toBeUndefined();
  });

  it('is reopened after a take, where its session waits for its user', () => {
    expect(byB(['reopen', 'auth-refresh']).stderr).toBe(
      'error: main/auth-refresh belongs to claude aaaaaaaa, which waits for its user\nhint: git handoff take main/auth-refresh\n',
    );
  });
});

describe('what an ended session has left', () => {
  it('is taken, and then closed', () => {
    world.end(A);
    expect(byB(['write', 'auth-refresh', '-m', 'mine']).stderr).toContain(
      'hint: git handoff take main/auth-refresh\n',
    );
    for (const words of [...TAKES, ['close', 'auth-refresh']]) expect(byB(words).status).toBe(0);
  });
});
