import type { Random } from '../../support/faults/seed.ts';

/** The kinds of acts in a history, with their relative frequency. */
const WEIGHTS = {
  write: 16,
  formatter: 2,
  codemod: 4,
  lockfile: 2,
  commit: 12,
  'own commit': 6,
  'named commit': 4,
  stage: 2,
  amend: 2,
  destroy: 6,
  stash: 4,
  switch: 2,
  merge: 3,
  pick: 3,
  rebase: 3,
  'move HEAD': 2,
  'fetched HEAD': 4,
  push: 1,
  'person writes': 4,
  'person commits': 2,
  'person switches': 1,
} as const;

export type Kind = keyof typeof WEIGHTS;

export const FILES = [
  'src/a.ts',
  'src/b.ts',
  'shared.md',
  'new one.ts',
  'lib/x.ts',
  'lib/y.ts',
  'package-lock.json',
];

export function pickKind(random: Random): Kind {
  const kinds = Object.keys(WEIGHTS) as Kind[];
  return random.pick(kinds.flatMap((kind) => Array<Kind>(WEIGHTS[kind]).fill(kind)));
}

const MESSAGES = [
  "-m 'one line'",
  "-m 'it'\\''s\n\n- of `two`'",
  "-m first -m 'second  paragraph'",
  "-F - <<'END'\nfeat: x\n\n- body\nEND",
  "--author='A U Thor <a@u>' -m x",
];

/** The commands of a kind, which write `mark`. */
function commandsOf(kind: Kind, file: string, message: string, mark: string, line: number): string[] {
  switch (kind) {
    case 'formatter':
      return ['sh "$HOME/format"'];
    case 'lockfile':
      return [`sh "$HOME/install" ${mark}`];
    case 'codemod':
      return [`sed -i 's/line ${line}$/& ${mark}/' src/a.ts src/b.ts`];
    case 'commit':
      return [
        `git add -A && git commit ${message}`,
        `git commit -a ${message}`,
        `git add -A; git commit ${message}`,
        `git add -- '${file}' && git commit ${message}`,
      ];
    case 'own commit':
      return [`git handoff commit ${message}`];
    case 'named commit':
      return [`git handoff commit -m named -- '${file}'`, `git commit -m only -- '${file}'`];
    case 'stage':
      return ['git handoff stage --mine', `git handoff stage --mine -- '${file}'`, 'git add -A'];
    case 'amend':
      return ['git commit -a --amend --no-edit', 'git commit -a --amend -m again'];
    case 'destroy':
      return [
        'git reset --hard',
        'git checkout -- .',
        'git restore .',
        'git clean -fd',
        'git clean -fdX',
        'rm -rf lib',
        `git restore '${file}'`,
      ];
    case 'stash':
      return ['git stash', 'git stash -u', 'git stash pop', 'git stash drop'];
    case 'switch':
      return [`git switch -c side-${mark}`, `git checkout -b other-${mark}`];
    default:
      return operationsOf(kind, mark);
  }
}

function operationsOf(kind: Kind, mark: string): string[] {
  switch (kind) {
    case 'merge':
      return [
        'git merge -q feature || git merge --abort',
        'git merge -q feature',
        'git merge -q feature -m m; git add -A && git commit -m merged',
        'git merge -q --no-commit feature; git commit -a -m merged',
        'git merge -q --squash feature; git commit -a -m squashed',
      ];
    case 'pick':
      return [
        'git cherry-pick feature',
        'git cherry-pick -n feature',
        'git cherry-pick feature; git add -A && git cherry-pick --continue --no-edit',
        'git revert --no-edit HEAD',
        'git revert --no-edit HEAD~1',
        'git revert -n HEAD~1',
      ];
    case 'rebase':
      return [
        'git rebase -q feature',
        'git rebase -q --autostash feature',
        'git rebase -q feature || git rebase --abort',
        'git rebase -q feature; git add -A && GIT_EDITOR=true git rebase --continue',
      ];
    case 'move HEAD':
      return ['git reset -q --soft HEAD~1', 'git reset -q HEAD~1', 'git reset -q --soft HEAD~2'];
    case 'fetched HEAD':
      return [
        'git fetch -q origin && git reset -q --soft origin/main',
        'git fetch -q origin && git reset -q origin/main',
        'git fetch -q origin; git update-ref HEAD origin/main',
        'git merge -q --ff-only origin/main',
        'git pull -q --rebase origin main',
      ];
    case 'push':
      return [`git push -q origin HEAD:refs/heads/pushed-${mark}`];
    case 'person commits':
      return ['git commit -q -a -m "by hand"', 'git add -A && git commit -q -m "by hand"'];
    case 'person switches':
      return [`git switch -q -c hand-${mark}`, 'git switch -q main'];
    default:
      return ['true'];
  }
}

export function commandOf(kind: Kind, random: Random, mark: string): string {
  const line = 1 + random.below(9);
  return random.pick(commandsOf(kind, random.pick(FILES), random.pick(MESSAGES), mark, line));
}

/** A command that ends or continues an operation in which git has stopped. */
export function endingOf(operation: string, random: Random): string {
  const goOn = `git add -A && GIT_EDITOR=true git ${operation} --continue`;
  const more = operation === 'merge' ? 'git add -A && git commit --no-edit' : `git ${operation} --skip`;
  return random.pick([goOn, goOn, `git ${operation} --abort`, more]);
}

/** The same command typed elsewhere: what is typed, and in which folder, relative to the top. */
export function elsewhere(command: string, random: Random, top: string): { command: string; folder: string } {
  const folder = random.pick(['src', '..']);
  switch (random.below(6)) {
    case 0:
      return { command, folder: 'src' };
    case 1:
      return { command: `cd ${top} && ${command}`, folder };
    case 2:
      return { command: command.replaceAll(/\bgit /g, `git -C ${top} `), folder };
    default:
      return { command, folder: '.' };
  }
}
