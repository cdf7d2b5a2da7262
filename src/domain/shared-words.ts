/**
 * Words that the program and the scripts of sh go by alike. `node scripts/generate-sh.mjs` writes them into the marked
 * blocks of bin/git-handoff and git-hooks/; a test holds the two together. Pure.
 */

import { BEGUN, REF_FORMAT } from './begun-words.ts';
import { FALSE_WORDS, TRUE_WORDS } from './boolean-words.ts';
import { SESSION_VARIABLES } from './names.ts';

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

/**
 * The session that the environment names, for sh: one id for each client that names one, without anything between. Of a
 * client's own variables the first counts.
 */
export const NAMED_SESSION = [...new Set(Object.values(SESSION_VARIABLES))]
  .map((client) => Object.keys(SESSION_VARIABLES).filter((name) => SESSION_VARIABLES[name] === client))
  .map((own) => own.reduceRight((rest, name) => `\${${name}${rest === '' ? '-' : ':-'}${rest}}`, ''))
  .join('');

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

/** A word as an sh pattern for any case of letters. */
const anyCase = (word: string) =>
  Array.from(word, (letter) => (/[a-z]/.test(letter) ? `[${letter.toUpperCase()}${letter}]` : letter)).join(
    '',
  );

/** The blocks of the scripts, by name. */
/** An `sh` function that is true for these words, in upper or lower case. */
function asked(name: string, words: readonly string[]): string[] {
  const pattern = words.map((word) => (word === '' ? "''" : anyCase(word))).join(' | ');
  return [`${name}() {`, '  case $1 in', `    ${pattern}) return 0 ;;`, '  esac', '  return 1', '}'];
}

/** As functions, which take settings: each word stays one, whatever the shell. */
function begunBlock(): string {
  return Object.entries(BEGUN)
    .map(([name, words]) => `begun_${name}() { git "$@" ${words.map((word) => `'${word}'`).join(' ')}; }`)
    .join('\n');
}

function shellBlocks(): Readonly<Record<string, string>> {
  const comment = MATTERING.map(([what]) => `# - ${what}`).join('\n');
  return {
    words: `${comment}\nwords='${MATTERING.flatMap(([, words]) => words).join('\n')}'`,
    'guard-keys': `guard_keys='${GUARD_KEYS}'`,
    'named-session': `claimed=${NAMED_SESSION}`,
    'ref-format': `whole='${REF_FORMAT}'`,
    look: [
      `look_words='${[...STATUS_SETTINGS.flatMap((setting) => ['-c', setting]), ...STATUS_WORDS].join(' ')}'`,
      // find(1): smaller than.
      `most_kept=${MOST_KEPT + 1}`,
    ].join('\n'),
    begun: begunBlock(),
    booleans: [...asked('is_false', ['', ...FALSE_WORDS]), ...asked('is_true', TRUE_WORDS)].join('\n'),
  };
}

/** The scripts with such blocks. */
export const GENERATED: readonly string[] = [
  'bin/git-handoff',
  'git-hooks/session.sh',
  'git-hooks/trailer.sh',
];

/** A script with its blocks rewritten. */
export function freshScript(script: string): string {
  const blocks = shellBlocks();
  return script.replace(
    /^(# --- generated: (\S+) ---\n)(?:(?!# ---).*\n)*(# --- end ---)$/gm,
    (_, begin: string, name: string, end: string) => `${begin}${blocks[name] ?? ''}\n${end}`,
  );
}
