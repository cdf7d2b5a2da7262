import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { analyseShell } from '../../../src/shell/analyse.ts';
import { mayBeAtStake } from '../../../src/shell/at-stake.ts';
import type { ShellEffects } from '../../../src/shell/effects.ts';
import { mayGoAround } from '../../../src/shell/git-verbs.ts';
import { treeReach } from '../../../src/shell/tree-verbs.ts';
import { fakeWorld } from './fake-world.ts';

const root = join(import.meta.dirname, '..', '..', '..');

it.each([
  'npm test',
  'npm run build -- --fast 2>&1 | tail -20',
  'make -j4 && ./run.sh',
  'git status',
  'git add src && git commit -m "a b"',
  'git log --oneline -5',
  'sed -i s/1/2/ src/a.ts',
  'python3 -c "print(1)"',
  'cargo build --release >/dev/null',
  'rg -n "foo(bar)" src',
  'echo $HOME',
])('nothing is at stake in %s', (command) => {
  expect(mayBeAtStake(command)).toBe(false);
});

it.each([
  'git handoff take main/x',
  'git "han"doff list',
  'cat > x',
  'echo x>x',
  'echo x > /tmp/x',
  'git reset --hard',
  'r\\m -rf src',
  'cd ../other && make',
  'eval x',
  "rm$'\\x20'x",
  'unset CLAUDE_CODE_SESSION_ID',
  'a'.repeat(8193),
])('something may be at stake in %s', (command) => {
  expect(mayBeAtStake(command)).toBe(true);
});

/** Whether the program would act on these effects: refuse or save something, or look for sessions in other worktrees. */
function acts(effects: ShellEffects): boolean {
  const isOn = (setting: string) => setting !== 'clean.requireforce';
  const facts = { isPath: () => true, names: () => undefined, text: () => undefined, isOn };
  return (
    effects.identity.length > 0 ||
    effects.handoffCalls.length > 0 ||
    effects.refs.some(({ ref }) => /^refs\/(?:handoffs|\*)|^\*/.test(ref)) ||
    effects.gitCalls.some((call) => treeReach(call, facts)?.does !== undefined) ||
    effects.gitCalls.some(({ verb, words }) => verb === 'worktree' && words[0] !== 'list') ||
    effects.gitCalls.some(
      ({ verb, words }) => verb === 'branch' && words.some((word) => /^-[dDmMfC]/.test(word ?? '')),
    ) ||
    mayGoAround({ ...effects, gitCalls: effects.gitCalls.filter(({ verb }) => verb === 'config') })
  );
}

const PREFIXES = ['', 'cd src && ', 'true; ', 'X=1 ', '(', 'time ', 'sudo ', 'if true; then '];
const GITS = [
  'git ',
  'git -c a.b=c ',
  'git --no-pager ',
  'git -P ',
  'git --literal-pathspecs ',
  '/usr/bin/git ',
];
const VERBS = [
  'rm src/a.ts -f', 'rm -f src/a.ts', 'rm --force a', 'rm a --force', 'rm -qf a', 'rm -r -f src',
  'mv -f a b', 'mv a b -f', 'mv --force a b', 'mv -kf a b',
  'checkout x', 'checkout -f', 'switch -c x', 'switch --detach HEAD', 'restore .', 'restore -s HEAD a',
  'reset --hard', 'reset --merge HEAD', 'stash', 'stash push -u', 'stash -- a', 'clean -fdx', 'clean a -f',
  'rebase main', 'rebase --skip', 'rebase --abort', 'pull', 'merge x --autostash', 'merge --abort',
  'cherry-pick --abort', 'cherry-pick --skip', 'revert --abort', 'am --abort', 'am --skip',
  'apply x.diff', 'apply -R', 'bisect start a b', 'bisect reset', 'read-tree -u -m HEAD', 'read-tree -u --reset x',
  'checkout-index -f -a', 'symbolic-ref HEAD refs/heads/x', 'symbolic-ref -d HEAD', 'fast-import',
  'worktree remove x', 'worktree add ../x', 'branch -D x', 'branch -f x y', 'branch -m x y',
  'update-ref -d refs/handoffs/a/b', 'push . x:refs/handoffs/a/b', 'fetch . x:refs/handoffs/a/b', 'handoff write x',
  'config core.hooksPath x', 'config CORE.HOOKSPATH x', 'config --remove-section core', 'config handoff.enabled no',
  'town sync', 'town hack x', 'log -3', 'status', 'diff a', 'commit -m x', 'add .', 'show x',
]; // prettier-ignore
const OTHERS = [
  'gh pr checkout 1', 'gh co 1', 'gh pr merge -d', 'gh issue develop 1 -c', 'glab mr checkout 1', 'glab co 1',
  'hub checkout x', 'hub pr checkout 1', 'hub rm a -f', 'gt checkout x', 'gt create x', 'jj new', 'jj commit -m x',
  'git-town sync', 'git-rm a -f', 'git-mv -f a b', 'git-checkout x', 'git-handoff uninstall',
  'chmod -x .git/hooks/pre-commit', 'mv .git/hooks x', 'rm .git/hooks/pre-commit', 'rm -rf .husky',
  'cd .git && chmod -x hooks/pre-commit', 'unlink .husky/_/pre-commit', 'install x .git/hooks/pre-commit',
  'CLAUDE_CODE_SESSION_ID=x git commit', 'GIT_HANDOFF=off git commit', 'ls', 'make test', 'npm install',
]; // prettier-ignore

/** The commands of every corpus of the tests. */
function corpora(): string[] {
  const folders = ['fixtures/hostile', 'fixtures/payloads'].map((folder) => join(root, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folder, name)),
  );
  const found: string[] = [];
  const collect = (value: unknown, key: string) => {
    if (typeof value === 'string' && /^(?:command|cmd)$/.test(key)) found.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) collect(one, name);
  };
  for (const file of files) collect(JSON.parse(readFileSync(file, 'utf8')) as unknown, '');
  return found;
}

it('whatever the analysis would act on counts as possible harm', async () => {
  const made = PREFIXES.flatMap((prefix) => [
    ...GITS.flatMap((git) => VERBS.map((verb) => `${prefix}${git}${verb}`)),
    ...OTHERS.map((other) => prefix + other),
  ]).map((command) =>
    command.startsWith('(') ? `${command})` : command.startsWith('if ') ? `${command}; fi` : command,
  );
  const commands = [...new Set([...made, ...corpora()])].filter((command) => command.length < 2000);
  expect(commands.length).toBeGreaterThan(3000);
  const world = fakeWorld();
  const acting: string[] = [];
  for (const command of commands) if (acts(await analyseShell(command, world))) acting.push(command);
  expect(acting.length).toBeGreaterThan(2000);
  expect(acting.filter((command) => !mayBeAtStake(command))).toEqual([]);
});
