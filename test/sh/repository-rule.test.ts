import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { discoverRepository } from '../../src/git/discover.ts';
import { isYash, shells } from '../support/shells.ts';
import { LauncherWorld, loneSession, toolCall } from './launcher-world.ts';

const OID = '0123456789abcdefABCD0123456789abcdef0123';

/** A folder's entries by name. A string is a file's text, an array holds a link's target, and null is a folder. */
type Layout = Readonly<Record<string, string | readonly [string] | null>>;

const bare = (head: string | readonly [string]): Layout => ({ HEAD: head, objects: null, refs: null });
const inside = (folder: string, layout: Layout): Layout =>
  Object.fromEntries(Object.entries(layout).map(([name, value]) => [`${folder}/${name}`, value]));

/** What is in the folder `sub` of an enabled repository, from which the call is made. */
const layouts: readonly (readonly [string, Layout])[] = [
  ['nothing', {}],
  ['entries with the names HEAD and objects', { HEAD: 'x\n', objects: 'o\n' }],
  ['folders with the names HEAD, objects and refs', { HEAD: null, objects: null, refs: null }],
  ['all three, with a HEAD that is no ref', bare('x\n')],
  ['all three, with a HEAD that is empty', bare('')],
  ['all three, with a ref outside refs/', bare('ref: heads/main\n')],
  ['all three, with 39 digits', bare(`${OID.slice(1)}\n`)],
  ['a ref and objects, but no refs', { HEAD: 'ref: refs/heads/main\n', objects: null }],
  ['a ref and refs, but no objects', { HEAD: 'ref: refs/heads/main\n', refs: null }],
  ['a ref with files for folders', { HEAD: 'ref: refs/heads/main\n', objects: '', refs: '' }],
  ['a bare repository', bare('ref: refs/heads/main\n')],
  ['a bare repository with reftable', bare('ref: refs/heads/.invalid\n')],
  ['a bare repository whose ref has no blank', bare('ref:refs/heads/main')],
  ['a bare repository whose ref has many blanks', bare('ref: \t refs/heads/main')],
  ['a bare repository with a detached HEAD', bare(`${OID}\n`)],
  ['a bare repository with a longer id', bare(`${OID}${OID.slice(0, 24)}\n`)],
  ['a bare repository with a linked HEAD', bare(['refs/heads/main'])],
  ['a HEAD that links elsewhere', bare(['../HEAD'])],
  ['a .git that is empty', { '.git': null }],
  ['a .git with a HEAD only', inside('.git', { HEAD: 'ref: refs/heads/main\n' })],
  ['a .git whose HEAD is no ref', inside('.git', bare('x\n'))],
  ['a repository of its own', inside('.git', bare('ref: refs/heads/main\n'))],
  ['a .git file that leads to one', { '.git': 'gitdir: own\n', ...inside('own', bare(`${OID}\n`)) }],
  ['a .git file with carriage returns', { '.git': 'gitdir: own\r\n', ...inside('own', bare(`${OID}\n`)) }],
  ['a .git file that leads nowhere', { '.git': 'gitdir: gone\n' }],
  ['a .git file that leads to no repository', { '.git': 'gitdir: own\n', ...inside('own', bare('x')) }],
  ['a .git file that says nothing', { '.git': 'x\n' }],
  [
    'a git directory that shares another one’s objects',
    {
      '.git': 'gitdir: own\n',
      'own/HEAD': `${OID}\n`,
      'own/commondir': '../shared\n',
      ...inside('shared', bare(`${OID}\n`)),
    },
  ],
  [
    'a git directory that shares what is not there',
    { '.git': 'gitdir: own\n', 'own/commondir': '../gone\n', ...inside('own', bare(`${OID}\n`)) },
  ],
];

function build(folder: string, layout: Layout): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, value] of Object.entries(layout)) {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    if (value === null) mkdirSync(path, { recursive: true });
    else if (typeof value === 'string') writeFileSync(path, value);
    else symlinkSync(value[0], path);
  }
}

/** The git directory that git finds from a folder, if it has a working tree. */
function asGit(cwd: string): string | undefined {
  const run = spawnSync('git', ['rev-parse', '--absolute-git-dir', '--is-inside-work-tree'], {
    cwd,
    encoding: 'utf8',
  });
  const [gitDir, isInside] = run.status === 0 ? run.stdout.split('\n') : [];
  return isInside === 'true' ? gitDir : undefined;
}

/** The git directory that git finds from a folder, with or without a working tree. */
function asGitDir(cwd: string, question = '--absolute-git-dir'): string | undefined {
  const run = spawnSync('git', ['rev-parse', question], { cwd, encoding: 'utf8' });
  return run.status === 0 ? resolve(cwd, run.stdout.trimEnd()) : undefined;
}

describe('which repository a folder belongs to', () => {
  let root: string;
  beforeAll(() => (root = realpathSync(mkdtempSync(join(tmpdir(), 'layout-')))));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each(layouts)('with %s in it, is the same as for git', (name, layout) => {
    const top = join(root, name.replaceAll(/\W/g, '-'));
    spawnSync('git', ['init', '-q', top]);
    const sub = join(top, 'sub');
    build(sub, layout);
    const found = discoverRepository(sub);
    expect(found === undefined ? undefined : realpathSync(found.gitDir)).toBe(asGit(sub));
  });
});

/** Calls in a folder. The launcher may end two of them itself, but must leave the push to Node. */
const callsOf = (folder: string) => [
  toolCall(folder, 'Bash', { command: 'ls' }),
  toolCall(folder, 'Bash', { command: 'git push' }),
  toolCall(folder, 'Write', { file_path: join(folder, 'a.ts'), content: 'x' }),
];

describe.each(shells)('a call from a folder, under $name', (shell) => {
  let world: LauncherWorld;
  beforeAll(() => (world = new LauncherWorld(shell)));
  afterAll(() => world.remove());

  /** For each of the calls, whether Node starts. */
  const asked = (folder: string, cwd: string) =>
    callsOf(folder).map((call) => {
      const run = world.run(['guard'], JSON.stringify(call), { cwd });
      expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
      return run.node !== undefined;
    });

  it.each(layouts)(
    'with %s in it, inside a repository with a lone session, is settled in sh only if git finds that repository',
    (name, layout) => {
      const top = world.repository(`in ${name.replaceAll(/\W/g, '-')}`, true);
      const sub = join(top, 'sub');
      build(sub, layout);
      for (const cwd of [world.dir, sub]) {
        const [reads, pushes, writes] = asked(sub, cwd);
        expect(pushes).toBe(true);
        const isThat = [join(top, '.git'), undefined].includes(asGit(sub));
        if (reads === false || writes === false) expect(isThat).toBe(true);
        expect(reads === false || isYash(shell) || Object.keys(layout).length > 0).toBe(true);
      }
    },
  );

  it.each(layouts)(
    'with %s in it, enabled itself, is settled in sh only if its session is alone',
    (name, layout) => {
      const around = world.repository(`on ${name.replaceAll(/\W/g, '-')}`, false);
      const sub = join(around, 'sub');
      build(sub, layout);
      const found = asGitDir(sub);
      if (found === undefined || found === join(around, '.git')) return;
      const common = asGitDir(sub, '--git-common-dir') ?? found;
      mkdirSync(join(common, 'handoff', 'beat'), { recursive: true });
      for (const cwd of [world.dir, sub]) expect(asked(sub, cwd)).toEqual([true, true, true]);
      // A session that works in the outer repository is not at work in this one.
      writeFileSync(join(around, '.git', 'handoff-solo'), `${loneSession} 1 2\n${around}/.git\n`);
      for (const cwd of [world.dir, sub]) expect(asked(sub, cwd)).toEqual([true, true, true]);
      writeFileSync(join(found, 'handoff-solo'), `${loneSession} 1 2\n${found}\n`);
      for (const cwd of [world.dir, sub]) expect(asked(sub, cwd)[1]).toBe(true);
      writeFileSync(join(found, 'handoff-solo'), 'another 1 2\n');
      for (const cwd of [world.dir, sub]) expect(asked(sub, cwd)).toEqual([true, true, true]);
    },
  );
});
