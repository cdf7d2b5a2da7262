import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PredecessorWorld } from '../support/predecessors.ts';

const [me, other] = ['cccccccc-3333', 'dddddddd-4444'];
const handover = (goal: string, more = '') => `# Handover\n\n## Metadata\n\n${more}\n## Goal\n\n${goal}\n`;
let world: PredecessorWorld;
beforeEach(() => {
  world = new PredecessorWorld();
});
afterEach(() => world.remove());

describe('handover.md and .handover/', () => {
  it('become one topic per goal: the present text, with the archived texts as its older versions', () => {
    world.has('handover');
    expect(world.imported([], me)).toEqual({
      '2026-05-01T080000.md': `create main/move-build-rolldown ${me} closed`,
      '2026-05-07T120000.md': `create main/limit-rate-public-api ${me} open`,
      'current.md': `update main/limit-rate-public-api ${me} open`,
      'handover.md': `unchanged main/limit-rate-public-api ${me} open`,
    });
    const items = world.json(['log', 'limit-rate-public-api']).items;
    expect(items.map(({ step, summary }) => [step, summary])).toEqual([
      ['write', 'Limit the rate of the public API'],
      ['create', 'Limit the rate of the public API'],
    ]);
    const shown = world.handoff(['show', 'limit-rate-public-api', '--raw']);
    expect(shown.bytes.equals(readFileSync(join(world.path, 'handover.md')))).toBe(true);
    expect(items[0]).toMatchObject({ base: world.git(['rev-parse', 'HEAD']), client: 'claude' });
  });

  it('are not imported twice; a newer text becomes the next version', () => {
    world.has('handover');
    world.imported([], me);
    const before = world.values();
    expect(world.handoff(['import'], { session: me }).stdout).toMatch(/\n0 imported, 4 there already\n$/);
    expect(world.values()).toBe(before);
    // Like the handover program, this moves the old text to the archive, and writes the new text into both files.
    const [top, current] = [join(world.path, 'handover.md'), join(world.path, '.handover', 'current.md')];
    renameSync(top, join(world.path, '.handover', 'archive', '2026-05-08T090000.md'));
    for (const file of [top, current])
      world.put(file, handover('Limit the rate of the public API', '- Branch: main\n'));
    expect(Object.values(world.imported([], me)).filter((what) => !what.startsWith('unchanged'))).toEqual([
      `update main/limit-rate-public-api ${me} open`,
    ]);
    expect(world.json(['log', 'limit-rate-public-api']).items).toHaveLength(3);
  });

  it('whose goal is reached become closed notes', () => {
    const top = world.put(join(world.path, 'handover.md'), handover('Limit the rate'));
    world.imported([], me);
    mkdirSync(join(world.path, '.handover', 'archive'), { recursive: true });
    renameSync(top, join(world.path, '.handover', 'archive', '2026-05-08T090000.md'));
    world.put(top, handover('Write the docs'));
    expect(world.imported([], me)).toEqual({
      '2026-05-08T090000.md': `close main/limit-the-rate ${me} closed`.replace('the-', ''),
      'handover.md': `create main/write-docs ${me} open`,
    });
  });

  it.each([
    ['of an existing branch go there', '- Branch: feature/login\n', 'feature/login', null],
    ['of a branch that is gone go to this one', '- Branch: gone\n', 'main', 'its branch gone is not here'],
    ['of no branch go to this one', '', 'main', null],
    ['of what is no branch, too', '- Branch: ../../x\n', 'main', 'its branch ../../x is not here'],
  ])('%s', (_, metadata, branch, why) => {
    world.git(['branch', 'feature/login']);
    world.put(join(world.path, 'handover.md'), handover('Limit the rate', metadata));
    expect(world.json(['import'], { session: me }).items).toMatchObject([
      { branch, topic: 'limit-rate', why },
    ]);
  });

  it('with a HEAD that this repository does not have become notes without a base', () => {
    world.put(join(world.path, 'handover.md'), handover('Limit the rate', `- HEAD: ${'1'.repeat(40)}\n`));
    world.imported([], me);
    expect(world.trailers('main/limit-rate')['Handoff-Base']).toBeUndefined();
  });

  it('belong to whoever imported them; another session must take the topic first', () => {
    const top = world.put(join(world.path, 'handover.md'), handover('Limit the rate'));
    world.imported([], me);
    world.put(top, `${handover('Limit the rate')}more\n`);
    const { status, stderr } = world.handoff(['import'], { session: other });
    expect(status).toBe(3);
    expect(stderr).toContain('hint: git handoff take main/limit-rate\n');
    world.ok(['take', 'main/limit-rate'], { session: other });
    expect(world.imported([], other)).toEqual({ 'handover.md': `update main/limit-rate ${other} open` });
    expect(world.ok(['show', 'limit-rate', '--raw'])).toMatch(/more$/);
  });

  it('are found from a folder below, and in a named folder', () => {
    world.put(join(world.path, 'handover.md'), handover('Limit the rate'));
    world.put(join(world.path, 'sub', '.handover', 'current.md'), handover('Another goal'));
    const cwd = join(world.path, 'sub');
    expect(world.json(['import', '--dry-run'], { cwd, session: me }).items).toMatchObject([
      { topic: 'limit-rate' },
    ]);
    expect(world.json(['import', '.'], { cwd, session: me }).items).toMatchObject([
      { topic: 'another-goal' },
    ]);
    expect(world.trailers('main/another-goal')['Handoff-Imported-From']).toBe('handover:sub/handover.md');
  });

  it('behind a link are ignored', () => {
    const outside = join(world.root, 'outside');
    world.put(join(outside, 'current.md'), handover('Secret thing'));
    world.put(join(outside, 'archive', 'x.md'), handover('Secret thing'));
    symlinkSync(outside, join(world.path, '.handover'));
    symlinkSync('/etc/passwd', join(world.path, 'handover.md'));
    const { items } = world.json(['import'], { session: me });
    expect(items).toMatchObject([{ file: 'handover.md', action: 'skip', why: 'it is a symbolic link' }]);
    rmSync(join(world.path, 'handover.md'));
    expect(world.json(['import'], { session: me }).error.code).toBe('not-found');
  });
});

describe('plain Markdown', () => {
  it.each([
    ['auth-refresh.md', '# Something else\n', 'auth-refresh', 'Something else'],
    ['NOTES.md', 'x\n\n## Where we are\n', 'where-we-are', 'x'],
    ['todo.md', 'just text\n', 'todo-work', 'just text'],
    ['日本.md', '日本\n', 'imported-note', '日本'],
    ['front-matter.md', '---\ntitle: x\n---\n\n# Text\n', 'front-matter', 'Text'],
  ])('%s is called %s', (name, text, topic, summary) => {
    const file = world.put(join(world.root, name), text);
    expect(world.json(['import', file], { session: me }).items).toMatchObject([
      { action: 'create', format: 'markdown', topic, owner: me, state: 'open' },
    ]);
    expect(world.json(['show', topic])).toMatchObject({ note: text, summary });
  });

  it('from two folders, or several files at once, becomes separate notes', () => {
    const files = ['a', 'b'].map((folder) =>
      world.put(join(world.root, folder, 'my-notes.md'), `${folder}\n`),
    );
    expect(world.json(['import', ...files], { session: me }).items.map(({ topic }) => topic)).toEqual([
      'my-notes',
      'my-notes-2',
    ]);
    expect(world.handoff(['import', ...files], { session: me }).stdout).toContain(
      '0 imported, 2 there already',
    );
  });
});
