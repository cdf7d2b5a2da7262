import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWindows } from '../../src/changes/windows.ts';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  world.write(A, 'src/a.ts', 'of A\n');
  world.bash(B, 'touch looked');
});
afterEach(() => world.remove());

const folder = () => join(world.path, '.git', 'handoff', 'ledger');
const worktreeId = () => readdirSync(folder()).find((name) => /^[0-9a-f]{16}$/.test(name)) ?? '';
const last = () => join(folder(), worktreeId(), 'last');
const looks = () => JSON.parse(readFileSync(last(), 'utf8')) as Record<string, unknown>;

/** As in a repository where the last look took so much of a processor. */
function lastLookTook(costMs: number): void {
  writeFileSync(last(), JSON.stringify({ ...looks(), costMs }));
}

function isLooked(command: string): boolean | undefined {
  world.may(B, command);
  const place = { commonDir: join(world.path, '.git'), worktreeId: worktreeId() };
  return readWindows(place)
    .filter(({ session }) => session === B)
    .at(-1)?.looked;
}

describe('where a look at the working tree takes long', () => {
  it.each(['make', 'git add src/b.ts', 'echo x > src/b.ts', 'git push'])(
    '%s is not looked at before',
    (command) => {
      lastLookTook(501);
      expect(isLooked(command)).toBe(false);
    },
  );

  it.each([
    'rm -r src',
    'git commit -qm x',
    'git fetch origin main:main',
    'git clean -n',
    'git apply x.patch',
  ])('%s is, for it could destroy, carry away or move HEAD', (command) => {
    lastLookTook(501);
    expect(isLooked(command) ?? true).toBe(true);
  });

  it.each(['git reset --hard', 'git stash', 'git checkout -f', 'git clean -fd && git restore .'])(
    '%s is refused for the work of another session',
    (command) => {
      lastLookTook(5000);
      expect(refusal(world.may(B, command))).toContain('src/a.ts');
    },
  );

  it('what a command names is its session’s, what it does not name only weakly', () => {
    lastLookTook(501);
    writeFileSync(join(world.path, 'make.sh'), 'echo made >> src/b.ts\n');
    world.bash(B, 'echo x >> named.ts; sh make.sh');
    const claims = world.ledger(B).filter(({ t }) => t === 'claim');
    expect(claims.find(({ path }) => path === 'named.ts')).toMatchObject({ evidence: 'named', weak: false });
    expect(claims.find(({ path }) => path === 'src/b.ts')).toMatchObject({ evidence: 'window', weak: true });
  });

  it('every command is looked at before again when it no longer does', () => {
    lastLookTook(501);
    expect(isLooked('make')).toBe(false);
    lastLookTook(500);
    expect(isLooked('make')).toBe(true);
  });
});
