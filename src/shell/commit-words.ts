/** What the words of a git-commit(1) command line say, as far as the check before a commit needs it. Pure. */
export interface CommitWords {
  /** Whether HEAD's commit is rewritten. */
  readonly amend: boolean;
  /** The values of `-m`, in their order. */
  readonly messages: readonly string[];
}

/** Options of git itself that take the next word. */
const GLOBAL_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env']);
/** Options of git-commit(1) that take the next word. */
const LONG_VALUES = [
  'message',
  'file',
  'author',
  'date',
  'reuse-message',
  'reedit-message',
  'fixup',
  'squash',
  'template',
  'cleanup',
  'trailer',
  'pathspec-from-file',
];
const SHORT_VALUES = 'mFCct';
/** Whose value, if any, is what is left of the word. */
const SHORT_OPTIONAL = 'Su';

/**
 * Reads a command line of git; `undefined` when it is none of `git commit`.
 *
 * @param exact the words are known one by one; else the line was split at blanks, and behind a value that may hold
 * some nothing can be told
 */
export function parseCommitWords(argv: readonly string[], exact = true): CommitWords | undefined {
  const words = commitArguments(argv);
  if (words === undefined) return undefined;
  let amend = false;
  const messages: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--' || word === '--end-of-options') break;
    const option = readOption(word);
    if (option === undefined) continue;
    if (option.amend !== undefined) ({ amend } = option as { amend: boolean });
    if (!option.takesValue) continue;
    if (!exact) break;
    const value = option.value ?? words[(at += 1)] ?? '';
    if (option.isMessage) messages.push(value);
  }
  return { amend, messages };
}

function commitArguments(argv: readonly string[]): readonly string[] | undefined {
  const program = (argv[0] ?? '').replace(/^.*\//, '');
  if (program === 'git-commit') return argv.slice(1);
  if (program !== 'git') return undefined;
  for (let at = 1; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (GLOBAL_VALUES.has(word)) at += 1;
    else if (!word.startsWith('-')) return word === 'commit' ? argv.slice(at + 1) : undefined;
  }
  return undefined;
}

interface Option {
  readonly amend?: boolean;
  readonly takesValue: boolean;
  /** The value, when it stands in the same word. */
  readonly value?: string;
  readonly isMessage: boolean;
}

function readOption(word: string): Option | undefined {
  if (word.startsWith('--')) return readLong(word.slice(2));
  return word.startsWith('-') && word !== '-' ? readShort(word.slice(1)) : undefined;
}

/** git takes any beginning of a long option that fits only one. */
function readLong(text: string): Option {
  const end = text.indexOf('=');
  const name = end < 0 ? text : text.slice(0, end);
  if (/^am(?:e(?:n(?:d)?)?)?$/.test(name)) return { amend: true, takesValue: false, isMessage: false };
  if (/^no-am(?:e(?:n(?:d)?)?)?$/.test(name)) return { amend: false, takesValue: false, isMessage: false };
  const known = name === '' ? undefined : LONG_VALUES.find((long) => long.startsWith(name));
  if (known === undefined) return { takesValue: false, isMessage: false };
  const value = end < 0 ? {} : { value: text.slice(end + 1) };
  return { takesValue: true, ...value, isMessage: known === 'message' };
}

/** One-letter options stand together: `-am <message>`. */
function readShort(letters: string): Option {
  for (const [at, letter] of Array.from(letters).entries()) {
    if (SHORT_OPTIONAL.includes(letter)) break;
    if (!SHORT_VALUES.includes(letter)) continue;
    const rest = letters.slice(at + 1);
    return { takesValue: true, ...(rest === '' ? {} : { value: rest }), isMessage: letter === 'm' };
  }
  return { takesValue: false, isMessage: false };
}
