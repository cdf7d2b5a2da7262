import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Snapshot } from '../support/disk-snapshot.ts';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import { LOSSES } from '../support/losses.ts';
import { TestRepository } from '../support/repository.ts';

/**
 * Files are lost in all the ways of losses.ts, several in one repository, and then searched for. What is found must be the
 * lost content, correctly labelled.
 */

const REPOSITORIES = amount(4, 40);
const IN_EACH = 5;
const WAYS = Object.keys(LOSSES);
/** Every file has some of these lines, so that files also resemble each other. */
const COMMON = Array.from({ length: 40 }, (_, n) => `a line that several files have: ${n}\n`);

type Row = Readonly<Record<'path' | 'which' | 'blob' | 'kind' | 'subject', string>>;

function textOf(random: Random): string[] {
  return Array.from({ length: 10 + random.below(60) }, () =>
    random.below(3) === 0 ? random.pick(COMMON) : `${random.next()} is ${random.next()}\n`,
  );
}

/** The lines as text, with up to a fifth of them changed. */
function edited(random: Random, lines: readonly string[]): string {
  const count = 1 + random.below(Math.ceil(lines.length / 5));
  const changed = new Set(random.sample([...lines.keys()], count));
  return lines.map((line, at) => (changed.has(at) ? `${random.next()} was changed\n` : line)).join('');
}

/** Whether a row is true, as far as git itself can tell. */
function isTrue(world: TestRepository, { path, which, blob, kind, subject }: Row): boolean {
  const says = (...args: string[]) => world.run('git', args).stdout.trim();
  if (kind === 'blob')
    return which === blob && !says('log', '--all', '--reflog', '--format=%h', `--find-object=${blob}`);
  if (says('rev-parse', `${which}:${path}`) !== blob) return false;
  if (kind === 'commit') return says('log', '-1', '--format=%s', which) === subject;
  const prefix = { stash: 'WIP on ', index: 'index on ', untracked: 'untracked files on ' }[kind] ?? '';
  return kind === 'tree' || says('log', '-1', '--format=%s', which).startsWith(prefix);
}

it('a search finds at least 90 % of what was lost, byte for byte, and labels nothing wrongly', async () => {
  await seeded('rescue search', (random) => {
    const tally = new Tally();
    for (let turn = 0; turn < REPOSITORIES; turn++) {
      const world = new TestRepository();
      const files = Array.from(
        { length: IN_EACH },
        (_, n) => `${random.pick(['', 'src/', 'a b/'])}file ${n}.ts`,
      );
      const texts = new Map(files.map((path) => [path, textOf(random)]));
      world.commit('files', Object.fromEntries([...texts].map(([path, lines]) => [path, lines.join('')])));
      const losses = [...texts].map(([path, lines], n) => {
        const way = WAYS[(turn * IN_EACH + n) % WAYS.length] ?? '';
        const [lost, other] = [edited(random, lines), edited(random, lines)];
        LOSSES[way]?.(world, { path, lost, other });
        world.git(['reset', '-q', '--hard']);
        return { path, way, blob: world.git(['hash-object', '--stdin'], { input: lost }) };
      });
      if (random.below(2) === 0) world.git(['gc', '-q', '--prune=never']);
      const before = new Snapshot(join(world.path, '.git'));
      for (const { path, way, blob } of losses) {
        const rows = world.json(['rescue', 'search', path]).items as unknown as Row[];
        const at = rows.slice(0, 20).findIndex((row) => row.blob === blob);
        tally.add('lost');
        tally.add(at === 0 ? 'first' : at > 0 ? 'shown' : `not found (${way})`);
        for (const row of rows) tally.add(isTrue(world, row) ? 'rows' : 'wrong rows');
      }
      expect([...before.changed()]).toEqual([]);
      world.remove();
    }
    expect(tally.of('wrong rows')).toBe(0);
    expect(tally.of('first') + tally.of('shown')).toBeGreaterThanOrEqual(0.9 * tally.of('lost'));
    return tally.figures;
  });
});
