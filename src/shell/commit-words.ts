import { type GetoptSpec, hasOption, optionValue, optionValues, parseOptions } from './options.ts';

/** The parts of a `git commit` command line that a refusal needs to print the next command. Pure. */
export interface CommitWords {
  readonly amend: boolean;
  readonly all: boolean;
  /** The values of `-m`, in order. */
  readonly messages: readonly string[];
  /** The value of `-F`; `-` if the message is unknown because the line was split at blanks. */
  readonly file: string | undefined;
  /** The other options that shape the commit (`--author`, `-s`). The next command repeats them. */
  readonly kept: readonly string[];
}

/** The options of git itself that take the next word as their value. */
export const GLOBAL_VALUES: ReadonlySet<string> = new Set(
  '-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source'.split(' '),
);

/** Options of git-commit(1). */
const OPTIONS: GetoptSpec = {
  short: 'C:c:F:m:S::t:u::',
  long:
    'all allow-empty allow-empty-message amend author= cleanup= date= dry-run edit file= fixup= gpg-sign=? include ' +
    'interactive long message= no-amend no-edit no-gpg-sign no-signoff no-verify null only patch pathspec-file-nul ' +
    'pathspec-from-file= porcelain post-rewrite quiet reedit-message= reset-author reuse-message= short signoff squash= ' +
    'status template= trailer= untracked-files=? verbose verify',
  letters: {
    a: 'all',
    C: 'reuse-message',
    c: 'reedit-message',
    F: 'file',
    m: 'message',
    n: 'no-verify',
    S: 'gpg-sign',
    s: 'signoff',
  },
};
/** The options whose value may contain blanks. The group matches what precedes a short option's letter (`-a` in `-am`). */
const HAS_VALUE = /^(-[A-Za-z]*?)[CcFmt]|^--(?:au|cl|da|fi|m|re[eu]|sq|te|tr|pathspec-fr)/;

/** The options that the next command repeats unchanged. */
const KEPT = new Set([
  ...['author', 'date', 'cleanup', 'trailer', 'signoff', 'gpg-sign', 'reset-author', 'no-verify'],
  ...['allow-empty', 'allow-empty-message', 'no-gpg-sign', 'no-signoff', 'fixup', 'reuse-message', 'squash'],
]);
/** The options that take the message from another commit. */
const SOURCES = /^--(?:fixup|reuse-message|squash)=/;

/** Whether the message comes from an option that the next command repeats. */
export function hasSource({ kept }: Pick<CommitWords, 'kept'>): boolean {
  return kept.some((word) => SOURCES.test(word));
}

/**
 * Parses a command line; `undefined` when it is not a `git commit`. `exact` is false if the line was merely split at blanks: an
 * option whose value may contain blanks then makes the rest of the line unknown, except an `--amend` outside of the message.
 */
export function parseCommitWords(
  argv: readonly string[],
  exact = true,
  message?: string,
): CommitWords | undefined {
  const words = argumentsOf('commit', argv);
  if (words === undefined) return undefined;
  const end = exact ? -1 : words.findIndex((word) => HAS_VALUE.test(word));
  const [, letters = '-'] = HAS_VALUE.exec(words[end] ?? '') ?? [];
  const options = parseOptions(end < 0 ? words : [...words.slice(0, end), letters], OPTIONS);
  const kept = [...options.values].flatMap(([name, values]) => {
    if (name === 'reedit-message') return values.map((value) => `--reuse-message=${value}`);
    return KEPT.has(name) ? values.map((value) => `--${name}${value === '' ? '' : `=${value}`}`) : [];
  });
  const amends = (line: readonly string[]) => line.filter((word) => /^--am(?:e|en|end)?$/.test(word)).length;
  // Only `-m` puts the words of the message into the line.
  const typed = words.slice(end).some((word) => /^(?:-[A-Za-z]*m|--m)/.test(word)) ? (message ?? '') : '';
  const isBehind = message !== undefined && amends(words.slice(end + 1)) > amends(typed.split(/\s+/));
  return {
    // git obeys the last of `--amend` and `--no-amend`.
    amend:
      (end >= 0 && isBehind) ||
      [...options.values.keys()].findLast((name) => /^(?:no-)?amend$/.test(name)) === 'amend',
    all: hasOption(options, 'all'),
    messages: optionValues(options, 'message'),
    file: end < 0 ? optionValue(options, 'file') : '-',
    kept,
  };
}

/** Returns the words after `git <verb>`; `undefined` when the command line has another verb or another program. */
export function argumentsOf(verb: string, argv: readonly string[]): readonly string[] | undefined {
  const program = (argv[0] ?? '').replace(/^.*\//, '');
  if (program === `git-${verb}`) return argv.slice(1);
  if (program !== 'git') return undefined;
  for (let at = 1; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (GLOBAL_VALUES.has(word)) at += 1;
    else if (!word.startsWith('-')) return word === verb ? argv.slice(at + 1) : undefined;
  }
  return undefined;
}
