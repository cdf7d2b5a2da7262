import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOOK_MANAGERS } from './hook-managers.ts';
import { World } from './install-world.ts';

let world: World;
beforeEach(() => {
  world = new World();
  world.commit('first');
});
afterEach(() => world.remove());

const SCOPES = ['user', 'project'] as const;
/** Each manager in both worktrees. The scope of the clients' settings does not matter to a manager, so scopes alternate. */
const CELLS = Object.keys(HOOK_MANAGERS).flatMap((manager, n) =>
  (['main', 'linked'] as const).map((worktree, m) => ({
    manager,
    worktree,
    scope: SCOPES[(n + m) % SCOPES.length]!,
  })),
);

/** What a commit itself creates or changes. */
const BY_COMMITS = /\/(objects|logs|refs|index|COMMIT_EDITMSG|ORIG_HEAD|HEAD)\b/;

function files(): Record<string, string> {
  return Object.fromEntries(Object.entries(world.snapshot()).filter(([path]) => !BY_COMMITS.test(path)));
}

function mtimes(paths: readonly string[]): Record<string, number> {
  return Object.fromEntries(paths.map((path) => [path, statSync(join(world.root, path)).mtimeMs]));
}

/** Every hook with a block of ours. */
function ourHooks(): string[] {
  return Object.entries(world.snapshot())
    .filter(([path, text]) => !path.includes('/handoff/') && text.includes('handoff_shim='))
    .map(([path]) => join(world.root, path));
}

/** What version 0.1.0 wrote for an existing hook. */
function olderBlock(hook: string): string {
  return [
    '# >>> git-handoff >>>',
    '# Runs the hook below, then the one of git-handoff; `git handoff uninstall` takes it out.',
    `handoff_shim='/old/git-hooks/${hook}'`,
    'if [ -z "${GIT_HANDOFF_CHAINED-}" ] && [ -x "$handoff_shim" ]; then',
    '  GIT_HANDOFF_CHAINED=1 "$0" "$@" || exit',
    '  exec "$handoff_shim" "$@"',
    'fi',
    '# <<< git-handoff <<<',
    '',
  ].join('\n');
}

function makeOlder(path: string): void {
  const hook = path.slice(path.lastIndexOf('/') + 1);
  const text = readFileSync(path, 'latin1');
  writeFileSync(
    path,
    text.replace(/# >>> git-handoff >>>\n[^]*?# <<< git-handoff <<<\n/, olderBlock(hook)),
    'latin1',
  );
}

describe.each(CELLS)('$manager, $worktree worktree, $scope scope', ({ manager, worktree, scope }) => {
  it('install, upgrade, three reinstalls and uninstall restore every byte and mode', async () => {
    const { install, isOurs } = HOOK_MANAGERS[manager] ?? { install: () => undefined, isOurs: true };
    const linked = join(world.root, 'world', 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    const top = worktree === 'linked' ? linked : world.repository;
    install(world, top);
    const before = files();
    const times = mtimes(Object.keys(before));
    const changed = new Set<string>();
    const init = async (packageRoot = world.packageRoot) => {
      const result = await world.init({ scope }, top, { packageRoot });
      for (const path of result.changed) changed.add(path.slice(world.root.length));
      return result;
    };

    await init('/old');
    for (const path of ourHooks()) makeOlder(path);
    // Project settings name the program without its path. If no hook is ours, either, nothing names the package's folder.
    const isNamed = isOurs || scope !== 'project';
    expect((await init()).outcome).toBe(isNamed ? 'applied' : 'unchanged');
    const installed = files();
    const after = mtimes(Object.keys(installed));
    for (let round = 1; round <= 3; round++) {
      const again = await init();
      expect(again).toMatchObject({ outcome: 'unchanged', plan: '' });
      expect(files()).toEqual(installed);
      expect(mtimes(Object.keys(installed))).toEqual(after);
    }
    for (const path of ourHooks()) {
      const text = readFileSync(path, 'latin1');
      expect(text.match(/>>> git-handoff >>>/g)).toHaveLength(1);
      expect(text).not.toContain('/old');
    }

    world.commit('one', top);
    // Without our pre-commit's separate call at the beginning of a commit.
    const ran = world
      .calls()
      .filter((line) => !line.startsWith('shim pre-commit 1 begin'))
      .map((line) => line.replace(/^(shim \S+).*/, '$1'));
    const ours = ['shim pre-commit', 'shim prepare-commit-msg'];
    expect(ran).toEqual(isOurs ? [...ours, 'mine', 'shim commit-msg'] : ['mine']);

    await world.uninstall({}, top);
    expect(files()).toEqual(before);
    const untouched = Object.keys(before).filter(
      (path) => before[path]?.endsWith('folder') === false && !changed.has(path),
    );
    expect(mtimes(untouched)).toEqual(Object.fromEntries(untouched.map((path) => [path, times[path]])));
    world.commit('two', top);
    expect(world.calls()).toEqual(['mine']);
  });
});

describe('a manager that installs itself again', () => {
  it.each(['husky 9', 'lefthook', 'pre-commit', 'simple-git-hooks'])(
    '%s: init restores our hooks',
    async (name) => {
      const manager = HOOK_MANAGERS[name];
      manager?.install(world, world.repository);
      const before = files();
      await world.init();
      manager?.install(world, world.repository);
      expect((await world.init()).outcome).toBe('applied');
      world.commit('one');
      expect(world.calls()).toContainEqual(expect.stringContaining('shim commit-msg'));
      await world.uninstall();
      expect(files()).toEqual(before);
    },
  );

  it('and is then removed: uninstall leaves nothing of ours', async () => {
    HOOK_MANAGERS['husky 9']?.install(world, world.repository);
    await world.init();
    world.git(['config', '--unset', 'core.hooksPath']);
    await world.init();
    await world.uninstall();
    const left = Object.entries(files()).filter(([, text]) => text.includes('handoff_shim='));
    expect(left).toEqual([]);
    expect(existsSync(join(world.repository, '.git', 'hooks', 'pre-push'))).toBe(false);
  });
});
