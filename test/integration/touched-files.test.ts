import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({
    ready: [A, B],
    files: { 'src/cart.ts': TEN.replaceAll('line', 'let a=') },
  });
});
afterEach(() => world.remove());

/** A shell command that does not name the files that it writes. */
const program = (code: string) => `node -e "eval(atob('${Buffer.from(code).toString('base64')}'))"`;

/** Rewrites every file, as a formatter does. */
const FORMAT = program(`const fs = require('fs');
for (const f of fs.readdirSync('src'))
  fs.writeFileSync('src/' + f, fs.readFileSync('src/' + f, 'utf8').replaceAll(/ *= */g, ' = '))`);

const changed = (commit = 'HEAD') =>
  world.git(['show', '--format=', '--name-only', commit]).split('\n').filter(Boolean);

/** The commands of a refusal's hints, as they would be typed. */
const hints = (stderr = '') => [...stderr.matchAll(/^hint: (git .*)$/gm)].map(([, line = '']) => line);
const typed = (session: string, line: string) =>
  world.bash(session, line.replaceAll('<message>', 'message')).run;

/** A has half a change in src/cart.ts, B changes src/b.ts and formats everything. */
function formatted(): string {
  world.write(A, 'src/cart.ts', 'let total=1\nlet half=\n');
  world.write(B, 'src/b.ts', 'let b=2\n');
  const { before, after } = world.bash(B, FORMAT);
  expect(before.kind).toBe('silent');
  expect(world.read('src/cart.ts')).toBe('let total = 1\nlet half = \n');
  return contextText(after);
}

describe('a formatter runs over a file that another session has not finished', () => {
  it('both sessions hear of it, and the file stays its owner’s', () => {
    expect(formatted()).toContain('src/cart.ts');
    const { items } = world.json(['status'], { session: A });
    expect(items.find(({ path }) => path === 'src/cart.ts')).toMatchObject({ state: 'mine', owners: [A] });
    const theirs = world.json(['status'], { session: B }).items;
    expect(theirs.find(({ path }) => path === 'src/cart.ts')).toMatchObject({ state: 'other', owners: [A] });
  });

  it.each([
    ['git commit -qam a', []],
    ['git handoff commit -m a', []],
  ])('its owner commits it first, as it is on the disk: %s', (command) => {
    formatted();
    const sweep = command.includes('-qam') ? 'git commit -qm a -- src/cart.ts' : command;
    const { run } = world.bash(A, sweep);
    expect(run).toMatchObject({ status: 0 });
    expect(run?.stderr).toContain('src/cart.ts');
    expect(changed()).toEqual(['src/cart.ts']);
    expect(world.git(['show', 'HEAD:src/cart.ts']).trim()).toBe('let total = 1\nlet half =');
    expect(typed(B, 'git handoff commit -m b')).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['src/b.ts']);
    expect(world.status()).toEqual([]);
  });

  it('the formatting session may commit first, in one step, and only its own work', () => {
    formatted();
    const sweep = world.bash(B, 'git commit -qam b').run;
    expect(sweep?.status).not.toBe(0);
    const [hint = ''] = hints(sweep?.stderr);
    expect(hint).toMatch(/^git handoff commit -m b -- src\/b\.ts$/);
    expect(hint).not.toContain('cart.ts');
    const run = typed(B, hint);
    expect(run).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['src/b.ts']);
    expect(typed(A, 'git handoff commit -m a')).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['src/cart.ts']);
    expect(world.status()).toEqual([]);
  });

  it('the formatting session may undo its own work, and is not shown the other’s', () => {
    formatted();
    const reason = refusal(world.may(B, 'git reset --hard'));
    expect(reason).toContain('git restore --source=HEAD --staged --worktree -- src/b.ts');
    expect(reason).not.toMatch(/git restore.*cart\.ts/);
  });

  it('the owner continues with the file', () => {
    formatted();
    expect(world.write(A, 'src/cart.ts', 'let total = 2\n').kind).toBe('silent');
    expect(refusal(world.write(B, 'src/cart.ts', 'x\n'))).toContain('claude aaaaaaaa');
  });

  it('once the owner is gone, the file belongs to the session that touched it', () => {
    formatted();
    world.end(A);
    expect(typed(B, 'git handoff commit -m b')).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['src/b.ts', 'src/cart.ts']);
  });

  it('if only the other’s file was touched, nothing is committed, and the message says why', () => {
    world.write(A, 'src/cart.ts', 'let total=1\nlet half=\n');
    world.bash(B, program(`require('fs').writeFileSync('src/cart.ts', 'let total = 1\\n')`));
    const run = typed(B, 'git handoff commit -m b');
    expect(run?.status).toBe(1);
    expect(run?.stderr).toContain('src/cart.ts');
    expect(run?.stderr).toContain('claude aaaaaaaa');
  });
});

describe('a program that changes other lines of another session’s file', () => {
  const CODEMOD = program(`const fs = require('fs');
fs.writeFileSync('src/a.ts', fs.readFileSync('src/a.ts', 'utf8').replace('line 9', 'renamed'))`);

  it.each([
    [B, A],
    [A, B],
  ])('each commits its own lines, %s first', (first, second) => {
    world.write(A, 'src/a.ts', TEN.replace('line 1\n', 'A one\n'));
    world.bash(B, CODEMOD);
    world.write(B, 'src/b.ts', 'B\n');
    expect(typed(first, 'git handoff commit -m one')).toMatchObject({ status: 0 });
    expect(typed(second, 'git handoff commit -m two')).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([]);
    if (first === B) expect(world.git(['show', 'HEAD~1', '--format=', '-U0'])).not.toContain('A one');
  });
});

describe('a file that both sessions have generated', () => {
  it('is taken over by the last one to generate it, in three steps', () => {
    const install = (name: string) =>
      program(`const fs = require('fs');
const old = fs.existsSync('src/lock') ? fs.readFileSync('src/lock', 'utf8') : '';
fs.writeFileSync('src/lock', old + '${name}')`);
    world.bash(A, install('a'));
    world.bash(B, install('b'));
    world.write(B, 'src/b.ts', 'B\n');
    const [hint = ''] = hints(world.bash(B, 'git add -A && git commit -qm b').run?.stderr);
    expect(typed(B, hint)).toMatchObject({ status: 0 });
    world.stop(A);
    expect(typed(B, 'git handoff take -- src/lock')).toMatchObject({ status: 0 });
    expect(typed(B, 'git handoff commit -m lock')).toMatchObject({ status: 0 });
    expect(changed()).toEqual(['src/lock']);
    expect(world.status()).toEqual([]);
  });
});
