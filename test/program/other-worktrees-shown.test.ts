import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { A, B, C, SharingWorld, TEN, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
let other: string;

const changed = (line: number, by: string) => TEN.replace(`line ${line}\n`, `line ${line} by ${by}\n`);

beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
  onTestFinished(() => world.remove());
  other = world.worktree('feature/other');
  world.begin(B, other);
  world.wrote(A, 'src/a.ts', changed(1, 'A'));
  world.wrote(B, 'src/a.ts', changed(1, 'B'), other);
  world.wrote(B, 'src/b.ts', changed(2, 'B'), other);
});

const textOf = (...words: string[]) => world.handoff(words, { session: A }).stdout;

it('status says who has changed a path in another worktree, and whether it would merge', () => {
  world.wrote(A, 'src/b.ts', changed(9, 'A'));
  expect(textOf('status')).toMatch(
    new RegExp(`also changed by claude bbbbbbbb in ${other}: conflicts +src/a.ts\\n`),
  );
  expect(textOf('status')).toMatch(new RegExp(`also changed by claude bbbbbbbb in ${other} +src/b.ts\\n`));
  const [item] = world.json(['status', 'src/a.ts'], { session: A }).items as { alsoIn: unknown }[];
  expect(item?.alsoIn).toEqual([
    {
      worktree: other,
      sessions: [{ session: B, client: 'claude', liveness: 'live' }],
      kind: 'conflict',
    },
  ]);
});

it('status names, of several sessions in another worktree, the one that has changed the path', () => {
  world.begin(C, other);
  world.wrote(C, 'src/b.ts', changed(3, 'C'), other);
  expect(textOf('status')).toMatch(
    new RegExp(`also changed by claude bbbbbbbb in ${other}: conflicts +src/a.ts\\n`),
  );
});

it('status does not report what a session that the caller started itself has changed', () => {
  const [ref = ''] = world.refs('refs/handoffs-local/live').filter((name) => name.endsWith(B));
  const record = JSON.parse(world.git(['cat-file', 'blob', ref])) as object;
  const changedRecord = `${JSON.stringify({ ...record, parent: A })}\n`;
  const blob = world.run('git', ['hash-object', '-w', '--stdin'], { input: changedRecord }).stdout;
  world.git(['update-ref', ref, blob.trim()]);
  expect(textOf('status')).not.toContain('also changed');
});

it('a session that starts hears which of its changed paths a peer in another worktree has also changed', () => {
  expect(contextText(world.begin(A, world.path, 'resume'))).toContain(
    '- claude bbbbbbbb is live on feature/other; changed there and here: src/a.ts\n',
  );
});

it('nothing is shown any more once the other session has undone its change', () => {
  world.wrote(B, 'src/a.ts', TEN, other);
  expect(textOf('status')).not.toContain('also changed');
});
