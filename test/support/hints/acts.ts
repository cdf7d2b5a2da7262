import type { Random } from '../faults/seed.ts';

/** What a session may do in a history, by kind. */
export type Kind =
  | 'write'
  | 'formatter'
  | 'codemod'
  | 'lockfile'
  | 'commit'
  | 'own commit'
  | 'named commit'
  | 'amend'
  | 'destroy'
  | 'stash'
  | 'switch'
  | 'merge'
  | 'person';

export const FILES = [
  'src/a.ts',
  'src/b.ts',
  'shared.md',
  'new one.ts',
  'lib/x.ts',
  'lib/y.ts',
  'package-lock.json',
];

/** How often each is done. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  write: 8,
  formatter: 1,
  codemod: 2,
  lockfile: 1,
  commit: 6,
  'own commit': 3,
  'named commit': 2,
  amend: 1,
  destroy: 3,
  stash: 2,
  switch: 1,
  merge: 1,
  person: 2,
};

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

/** The command of a kind; `mark` is what it writes. */
export function commandOf(kind: Kind, random: Random, mark: string): string {
  const message = random.pick(MESSAGES);
  const file = random.pick(FILES);
  switch (kind) {
    case 'formatter':
      return 'sh "$HOME/format"';
    case 'lockfile':
      return `sh "$HOME/install" ${mark}`;
    case 'codemod':
      return `sed -i 's/line ${1 + random.below(9)}$/& ${mark}/' src/a.ts src/b.ts`;
    case 'commit':
      return random.pick([
        `git add -A && git commit ${message}`,
        `git commit -a ${message}`,
        `git add -A; git commit ${message}`,
      ]);
    case 'own commit':
      return `git handoff commit ${message}`;
    case 'named commit':
      return `git handoff commit -m named -- '${file}'`;
    case 'amend':
      return random.pick(['git commit -a --amend --no-edit', 'git commit -a --amend -m again']);
    case 'destroy':
      return random.pick([
        'git reset --hard',
        'git checkout -- .',
        'git restore .',
        'git clean -fd',
        'git clean -fdX',
        'rm -rf lib',
        `git restore '${file}'`,
      ]);
    case 'stash':
      return random.pick(['git stash', 'git stash -u', 'git stash pop', 'git stash drop']);
    case 'switch':
      return random.pick([`git switch -c side-${mark}`, `git checkout -b other-${mark}`]);
    case 'merge':
      return random.pick([
        'git merge -q feature || git merge --abort',
        'git merge -q feature -m m; git add -A && git commit -m merged',
        'git merge -q --no-commit feature; git commit -a -m merged',
        'git cherry-pick feature; git add -A && git cherry-pick --continue --no-edit',
      ]);
    default:
      return 'true';
  }
}

/** The same from another folder: what is typed, and the folder below the top in which it is typed. */
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
