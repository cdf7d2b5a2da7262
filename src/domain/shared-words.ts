/**
 * Words that the program and the scripts of sh go by alike. `node scripts/generate-sh.mjs` writes them into the marked
 * blocks of bin/git-handoff; a test holds the two together. Pure.
 */

import { BEGUN, REF_FORMAT } from './begun-words.ts';

/** The settings that the guard goes by, as an extended regular expression over git's keys. */
export const GUARD_KEYS =
  '^(handoff|alias)\\.|^hook\\.handoff-|^core\\.hookspath$|^(rebase|merge)\\.autostash$|^clean\\.requireforce$';

/**
 * Words of a shell command that Node has to look at: literal, wide on purpose, valid as sh patterns and as extended
 * regular expressions, with one literal part each.
 */
const MATTERING: readonly (readonly [what: string, words: readonly string[]])[] = [
  [
    'who is writing: the session variables, set, unset or wiped',
    ['SESSION_ID', 'THREAD_ID', 'env -', 'unset', 'exec -'],
  ],
  [
    'refs: by name, by a command that moves many, as files',
    ['refs', 'update-ref', 'fetch', 'push', 'pull', 'remote', 'prune', 'filter-', '[.]git/'],
  ],
  [
    "the folder of the predecessors' notes, by path or glob",
    ['[.]claude', '/[.]c', '/projects/', ' projects', 'memory'],
  ],
  [
    "commands that make words of text, a printable character as an escape, a folder of the call's own",
    ['eval', 'base64', 'xargs', 'alias', 'doff', 'u00[2-7]', 'dir_path', 'workdir', 'directory', 'cwd'],
  ],
  ['writers that follow a symbolic link', ['tee ', 'cp ', 'ln ', 'of=']],
  ['a command as a list of words', [':[[]']],
  ['another folder, which may be another worktree of the repository', [' -C', '[.][.]/']],
  [
    'git verbs that throw uncommitted work away or carry it off',
    [
      'apply',
      'checkout',
      'switch',
      'restore',
      'reset',
      'clean',
      'stash',
      'rebase',
      'merge',
      'bisect',
      'read-tree',
      'abort',
      'skip',
      'rm -',
      '-delete',
      ' rm ',
      ' mv ',
      'git-[rm]',
      'symbolic',
      'fast-import',
    ],
  ],
  ['what all worktrees share', ['worktree', 'branch ']],
  [
    'programs that switch branches for one',
    ['hub ', 'gt ', 'jj ', ' town', 'git-town', 'gh co', 'glab co', 'develop '],
  ],
  [
    "what git's hooks are, and whether they run",
    ['[hH][oO][oO][kK][sS][pP]', 'section', 'husky', '[.]git[ ;&]'],
  ],
];

/** How git-status(1) tells what differs from HEAD, file by file. */
export const STATUS_WORDS: readonly string[] = [
  '--literal-pathspecs',
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-renames',
  '--no-ahead-behind',
  '--untracked-files=all',
  '--ignore-submodules=dirty',
  '--',
];

/** Of the settings that no repository may override, those that change what it says, or start a program. Linux's. */
const STATUS_SETTINGS = ['core.fsmonitor=false', 'core.ignoreCase=false'];

/** Bigger contents of uncommitted files are named, not kept. Bytes. */
export const MOST_KEPT = 1 << 20;

/** As functions, which take settings: each word stays one, whatever the shell. */
function begunBlock(): string {
  return Object.entries(BEGUN)
    .map(([name, words]) => `begun_${name}() { git "$@" ${words.map((word) => `'${word}'`).join(' ')}; }`)
    .join('\n');
}

/** The blocks of the scripts, by name. */
function shellBlocks(): Readonly<Record<string, string>> {
  const comment = MATTERING.map(([what]) => `# - ${what}`).join('\n');
  return {
    words: `${comment}\nwords='${MATTERING.flatMap(([, words]) => words).join('\n')}'`,
    'guard-keys': `guard_keys='${GUARD_KEYS}'`,
    'ref-format': `whole='${REF_FORMAT}'`,
    look: [
      `look_words='${[...STATUS_SETTINGS.flatMap((setting) => ['-c', setting]), ...STATUS_WORDS].join(' ')}'`,
      // find(1): smaller than.
      `most_kept=${MOST_KEPT + 1}`,
    ].join('\n'),
    begun: begunBlock(),
  };
}

/** The scripts with such blocks. */
export const GENERATED: readonly string[] = ['bin/git-handoff'];

/** A script with its blocks rewritten. */
export function freshScript(script: string): string {
  const blocks = shellBlocks();
  return script.replace(
    /^(# --- generated: (\S+) ---\n)(?:(?!# ---).*\n)*(# --- end ---)$/gm,
    (_, begin: string, name: string, end: string) => `${begin}${blocks[name] ?? ''}\n${end}`,
  );
}
