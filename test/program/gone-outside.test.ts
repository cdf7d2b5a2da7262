import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN, contextText, lines } from '../support/sharing-world.ts';

/** A session beside a peer is told when something other than a tool call takes its uncommitted work away. */

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  world.write(B, 'src/b.ts', lines({ 3: 'B' }));
});
afterEach(() => world.remove());

const putBack = (content = TEN) => writeFileSync(join(world.path, 'src/b.ts'), content);
/** What a session is told before and after a command of its own. */
function newsAtNextCommand(session: string): string {
  const { before, after } = world.bash(session, 'make');
  return contextText(before) + contextText(after);
}

const GONE = "is gone. No session's tool call";

it('a session is told once, with its next command, what is gone and which command brings it back', () => {
  world.bash(A, 'make');
  putBack();
  const text = newsAtNextCommand(B);
  expect(text).toMatchInlineSnapshot(
    `"git-handoff: your uncommitted work in src/b.ts is gone. No session's tool call removed it, so the user or another program did. Ask the user before you bring it back. A rescue holds the work as it was: git handoff rescue show 1; to put it back: git handoff rescue restore --force 1 -- :/src/b.ts"`,
  );
  const command = /to put it back: (git handoff .*)$/m.exec(text)?.[1] ?? '';
  expect(world.run('bash', ['-c', command], { session: B })).toMatchObject({ status: 0 });
  expect(world.read('src/b.ts')).toBe(lines({ 3: 'B' }));
  expect(newsAtNextCommand(B)).not.toContain(GONE);
});

it('a session is told with its next prompt, even if another session’s call noticed it first, and nobody else is', () => {
  putBack();
  expect(newsAtNextCommand(A)).not.toContain(GONE);
  expect(contextText(world.prompt(B))).toContain(`src/b.ts ${GONE}`);
  expect(contextText(world.prompt(B))).not.toContain(GONE);
  expect(contextText(world.prompt(A))).not.toContain(GONE);
});

it('a session is told with its next prompt, if no call has noticed it before', () => {
  putBack();
  expect(contextText(world.prompt(B))).toContain(`src/b.ts ${GONE}`);
});

it('a session is not told so about work that its own command or undo removed, that was committed, or that only changed', () => {
  world.bash(B, 'git checkout -q -- src/b.ts');
  world.write(B, 'shared.md', lines({ 3: 'B' }));
  world.ok(['undo', '--', 'shared.md'], { session: B });
  world.write(B, 'src/b.ts', lines({ 5: 'B' }));
  putBack(lines({ 5: 'by hand' }));
  world.write(B, 'new.ts', 'new\n');
  world.git(['add', 'new.ts']);
  world.git(['commit', '-qm', 'by hand', '--', 'new.ts']);
  const told = [contextText(world.prompt(B)), newsAtNextCommand(B), contextText(world.prompt(A))];
  expect(told.join('\n')).not.toContain(GONE);
});

it('a session is not told so while a command runs that may have done it', () => {
  world.may(A, 'make');
  putBack();
  expect(contextText(world.prompt(B))).not.toContain(GONE);
});
