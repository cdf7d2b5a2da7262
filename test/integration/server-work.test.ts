import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, ServerWorld, remoteLines } from '../support/server-world.ts';

/** What a server's gate says about notes' carried work. */

const TOPIC = 'refs/handoffs-work/main/auth-refresh';

let world: ServerWorld;
let work: string;
beforeEach(() => {
  world = new ServerWorld('server-pre-receive');
  writeFileSync(join(world.path, 'a.txt'), 'two\n');
  world.ok(['write', 'auth-refresh', '-m', 'half done', '--with-work'], { session: A });
  work = world.refs('refs/handoffs-local/work')[0]?.split('/').at(-1) ?? '';
});
afterEach(() => world.remove());

/** Pushes, which must be refused; returns what the server said. */
function refused(refspec: string, ref: string): string[] {
  const before = world.there(ref);
  const run = world.push([refspec], { flags: ['--force'] });
  expect(run.status, run.stderr).toBe(1);
  expect(world.there(ref)).toBe(before);
  return remoteLines(run);
}

const blob = (input: string) => world.git(['hash-object', '-w', '--stdin'], { input });
const message = () => world.git(['log', '-1', '--format=%B', work]);

/** Makes a work commit with these entries in its tree. */
function made(
  entries: readonly (readonly [name: string, oid: string, mode?: string])[],
  parents: string[] = [],
) {
  const lines = entries.map(([name, oid, mode = '100644']) => {
    const type = { 40000: 'tree', 160000: 'commit' }[mode] ?? 'blob';
    return `${mode} ${type} ${oid}\t${name}\n`;
  });
  const tree = world.git(['mktree', '--missing'], { input: lines.join('') });
  return world.git(['commit-tree', tree, ...parents.flatMap((one) => ['-p', one])], { input: message() });
}

const json = (items: unknown, version = 1) => blob(JSON.stringify({ version, base: null, items }));
const item = (path: string, more = {}) => ({ path, base: null, index: null, disk: ['100644', 0], ...more });

describe('a server takes work', () => {
  it('under its own object name, and keeps it as long as its note is open', () => {
    const ref = `${TOPIC}/${work}`;
    world.ok(['sync', '--push', 'origin', '--with-work', 'auth-refresh'], { session: A });
    expect(world.there(ref)).toBe(work);
    expect(world.push([`${work}:${ref}`])).toMatchObject({ status: 0 });
    expect(refused(`:${ref}`, ref)).toEqual([
      `error: ${ref}: deleted, while the note that carries it is open`,
      'hint: git handoff close main/auth-refresh',
    ]);
    world.ok(['close', 'auth-refresh'], { session: A });
    world.ok(['sync', '--push', 'origin'], { session: A });
    expect(world.there(ref)).toBeUndefined();
  });

  it('under a configured prefix, too', () => {
    world.git(['config', 'handoff.remotePrefix', 'refs/heads/notes'], { cwd: world.server });
    const ref = `refs/heads/notes-work/main/auth-refresh/${work}`;
    expect(refused(`main:${ref}`, ref)[0]).toContain('badly named');
    expect(world.push([`${work}:${ref}`])).toMatchObject({ status: 0 });
    expect(world.push([`:${ref}`])).toMatchObject({ status: 0 });
  });
});

describe('a server refuses as work', () => {
  it('what is not under its own name, and deletes such refs', () => {
    const other = world.handmade();
    for (const ref of [`${TOPIC}/${other}`, TOPIC, `${TOPIC}/x`, `refs/handoffs-work/main/fix/${work}`]) {
      expect(refused(`${work}:${ref}`, ref)[0]).toBe(
        `error: ${ref}: badly named: work is <branch>/<topic>/<object name>`,
      );
    }
    world.push([`${work}:${TOPIC}/${work}`]);
    world.git(['update-ref', `${TOPIC}/x`, work], { cwd: world.server });
    expect(world.push([`:${TOPIC}/x`])).toMatchObject({ status: 0, stderr: '' });
    const odd = `refs/Handoffs-work/main/auth-refresh/${work}`;
    expect(refused(`${work}:${odd}`, odd)[0]).toContain('some servers treat that name');
  });

  it('what is larger than it allows, by its own setting', () => {
    world.git(['config', 'handoff.maxWork', '5'], { cwd: world.server });
    const ref = `${TOPIC}/${work}`;
    const [error, hint] = refused(`${work}:${ref}`, ref);
    expect(error).toMatch(/it has \d+ bytes, at most 5 are allowed \(handoff\.maxWork\)$/);
    expect(hint).toBe('hint: git handoff sync --push --with-work main/auth-refresh');
  });

  it.each<[string, () => string, string]>([
    ['a note', () => world.ref('refs/handoffs/main/auth-refresh') ?? '', 'its tree has entries other than'],
    ['a commit of the project', () => world.git(['rev-parse', 'main']), 'its trailers cannot be read'],
    ['a blob', () => blob('x'), 'it is no commit'],
    ['a commit with parents', () => made([['work.json', json([])]], [work]), 'it has parents'],
    ['nothing but contents', () => made([['0', blob('x')]]), 'its tree has entries other than'],
    [
      'a path of a tree',
      () =>
        made([
          ['work.json', json([])],
          ['hooks', blob('x')],
        ]),
      'its tree has entries other than',
    ],
    [
      'a gap in the numbers',
      () =>
        made([
          ['work.json', json([])],
          ['1', blob('x')],
        ]),
      'its tree has entries other than',
    ],
    [
      'a folder',
      () =>
        made([
          ['work.json', json([])],
          ['0', world.git(['rev-parse', 'main^{tree}']), '40000'],
        ]),
      'its tree has entries other than',
    ],
    [
      'a submodule',
      () =>
        made([
          ['work.json', json([])],
          ['0', world.git(['rev-parse', 'main']), '160000'],
        ]),
      'its tree has entries other than',
    ],
    [
      'a link for a content',
      () =>
        made([
          ['work.json', json([])],
          ['0', blob('x'), '120000'],
        ]),
      'its tree has entries',
    ],
    ['a later format', () => made([['work.json', json([], 2)]]), 'unknown format of work.json'],
    ['no JSON', () => made([['work.json', blob('{')]]), 'unknown format of work.json'],
    ...['../x', '.git/config', 'a/../../x', '/etc/x', '.GIT/hooks/x', 'a//b'].map(
      (path): [string, () => string, string] => [
        `the path ${path}`,
        () =>
          made([
            ['work.json', json([item(path)])],
            ['0', blob('x')],
          ]),
        `not a path: ${JSON.stringify(path)}`,
      ],
    ),
    [
      'a number that there is not',
      () =>
        made([
          ['work.json', json([item('a', { disk: ['100644', 1] })])],
          ['0', blob('x')],
        ]),
      'work.json is damaged',
    ],
    [
      'one path twice',
      () =>
        made([
          ['work.json', json([item('a'), item('a')])],
          ['0', blob('x')],
        ]),
      'a path that is there twice: "a"',
    ],
    [
      'more than 5,000 paths',
      () =>
        made([
          ['work.json', json(Array.from({ length: 5001 }, (_, at) => item(`f${at}`)))],
          ['0', blob('x')],
        ]),
      'more than 5000 paths',
    ],
  ])('%s', (_, make, why) => {
    const oid = make();
    const ref = `${TOPIC}/${oid}`;
    expect(refused(`${oid}:${ref}`, ref)[0]).toContain(`error: ${ref}: not the work of a note: ${why}`);
  });

  it('two contents under one number', () => {
    const [file, one, two] = [json([]), blob('x'), blob('y')];
    const entry = (name: string, oid: string) =>
      Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(oid, 'hex')]);
    const input = Buffer.concat([entry('0', one), entry('0', two), entry('work.json', file)]);
    const tree = world.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], { input });
    const oid = world.git(['commit-tree', tree], { input: message() });
    const ref = `${TOPIC}/${oid}`;
    expect(refused(`${oid}:${ref}`, ref)[0]).toContain('its tree has entries other than');
  });

  it('such work of a session that pushes by hand, as its own hook does', () => {
    world.ok(['init', '--yes']);
    const push = (refspec: string) => world.run('git', ['push', '-q', 'origin', refspec], { session: B });
    const ref = `${TOPIC}/${work}`;
    const said = (refspec: string) => push(refspec).stderr.replaceAll(` -C ${world.path}`, '');
    expect(said(`main:${ref}`)).toContain(
      `error: ${ref}: badly named: work is <branch>/<topic>/<object name>\nhint: git handoff sync --push --with-work main/auth-refresh\n`,
    );
    expect(push(`${work}:${ref}`)).toMatchObject({ status: 0 });
    expect(said(`:${ref}`)).toContain(
      `error: ${ref}: deleted, while the note that carries it is open\nhint: git handoff close main/auth-refresh\n`,
    );
    expect(world.there(ref)).toBe(work);
  });
});
