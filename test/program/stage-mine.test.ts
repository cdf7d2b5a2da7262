import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { typedHints } from '../support/commit-hooks-world.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

const staged = () =>
  world.git(['diff', '--cached', '--name-status', '--no-renames']).split('\n').filter(Boolean);

describe('stage --mine', () => {
  it('stages what this session changed: new, changed and removed files, and nothing else', () => {
    world.write(A, 'src/a.ts', 'A\n');
    writeFileSync(join(world.path, 'nobody.txt'), 'x\n');
    world.write(B, 'new\nb.txt', 'B\n');
    world.bash(B, 'rm src/b.ts');
    const answer = world.json(['stage', '--mine'], { session: B });
    expect(answer.items).toEqual([
      { path: 'src/b.ts', hunks: false },
      { path: 'new\nb.txt', hunks: false },
    ]);
    expect(staged()).toEqual(['A\t"new\\nb.txt"', 'D\tsrc/b.ts']);
    expect(world.as(B, ['commit', '-qm', 'b'])).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M src/a.ts', '?? nobody.txt']);
  });

  it('leaves what others have staged', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.git(['add', 'src/a.ts']);
    world.write(B, 'src/b.ts', 'B\n');
    world.ok(['stage', '--mine'], { session: B });
    expect(staged()).toEqual(['M\tsrc/a.ts', 'M\tsrc/b.ts']);
  });

  it('refuses a file that is nobody’s, with a command that stages only that file', () => {
    world.commit('odd', { '*': '1\n' });
    writeFileSync(join(world.path, '*'), '2\n');
    writeFileSync(join(world.path, 'shared.md'), 'x\n');
    const { stderr } = world.as(B, ['handoff', 'stage', '--mine', ':(literal)*']);
    world.run('sh', ['-c', typedHints(stderr)[0] ?? '']);
    expect(staged()).toEqual(['M\t*']);
  });

  it('stages only the named paths if some are named', () => {
    world.write(B, 'src/b.ts', 'B\n');
    world.write(B, 'docs/b.md', 'B\n');
    world.ok(['stage', '--mine', '.'], { session: B, cwd: join(world.path, 'docs') });
    expect(staged()).toEqual(['A\tdocs/b.md']);
  });

  it.each([
    { what: 'another’s path', path: 'src/a.ts', status: 3, hint: 'handoff stage --mine -- src/b.ts' },
    { what: 'nobody’s path', path: 'nobody.txt', status: 1, hint: 'add -- nobody.txt' },
    { what: 'a clean path', path: 'shared.md', status: 1, hint: 'handoff status' },
  ])('$what: refused, nothing is staged, and the command of the refusal works', ({ path, status, hint }) => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(B, 'src/b.ts', 'B\n');
    writeFileSync(join(world.path, 'nobody.txt'), 'x\n');
    const named = path === 'shared.md' ? [path] : [path, 'src/b.ts'];
    const run = world.handoff(['stage', '--mine', ...named], { session: B });
    expect(run.status).toBe(status);
    expect(run.stderr).toContain(`hint: git -C ${world.path} ${hint}\n`);
    expect(staged()).toEqual([]);
    expect(world.run('sh', ['-c', `git -C ${world.path} ${hint}`], { session: B })).toMatchObject({
      status: 0,
    });
  });

  it('needs --mine, and a session', () => {
    const run = world.handoff(['stage', 'src'], { session: B });
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toContain(`hint: git -C ${world.path} handoff stage --mine src`);
    expect(world.handoff(['stage', '--mine']).status).toBe(2);
  });

  it('records what it staged', () => {
    world.write(B, 'src/b.ts', 'B\n');
    world.ok(['stage', '--mine'], { session: B });
    const records = world.ledger(B).filter(({ t }) => t === 'staged');
    expect(records).toMatchObject([{ path: 'src/b.ts', state: { mode: '100644' } }]);
  });
});
