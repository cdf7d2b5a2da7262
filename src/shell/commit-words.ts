/** What the words of a git-commit(1) command line say, as far as a refusal needs it to name the next command. Pure. */
export interface CommitWords {
  /** Whether HEAD's commit is rewritten. */
  readonly amend: boolean;
  /** `-a`. */
  readonly all: boolean;
  /** The values of `-m`, in their order. */
  readonly messages: readonly string[];
  /** The value of `-F`. */
  readonly file: string | undefined;
  /** What else says how the commit is to be made (`--author`, `-s`), to be typed again. */
  readonly kept: readonly string[];
}

/** Options of git itself that take the next word. */
const GLOBAL_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env']);

/** Options of git-commit(1) by their long names; `=`: takes a value, `?`: one in the same word only. */
const OPTIONS = new Map(
  (
    'all allow-empty allow-empty-message amend author= cleanup= date= dry-run edit file= fixup= gpg-sign? include ' +
    'interactive long message= null only patch pathspec-file-nul pathspec-from-file= porcelain post-rewrite quiet ' +
    'reedit-message= reset-author reuse-message= short signoff squash= status template= trailer= untracked-files? ' +
    'verbose verify'
  )
    .split(' ')
    .map((word) => [word.replace(/[=?]$/, ''), /[=?]$/.exec(word)?.[0] ?? ''] as const),
);

const LETTERS: Readonly<Record<string, string>> = {
  a: 'all',
  C: 'reuse-message',
  c: 'reedit-message',
  e: 'edit',
  F: 'file',
  i: 'include',
  m: 'message',
  n: 'no-verify',
  o: 'only',
  q: 'quiet',
  S: 'gpg-sign',
  s: 'signoff',
  t: 'template',
  u: 'untracked-files',
};

/** Typed again as they are. */
const KEPT = new Set([
  ...['author', 'date', 'cleanup', 'trailer', 'signoff', 'gpg-sign', 'reset-author', 'no-verify'],
  ...['allow-empty', 'allow-empty-message', 'no-gpg-sign', 'no-signoff', 'fixup', 'reuse-message', 'squash'],
]);
/** Those that say where the message comes from. */
const SOURCES = /^--(?:fixup|reuse-message|squash)=/;

/** Whether the kept words say what the message is. */
export function hasSource({ kept }: Pick<CommitWords, 'kept'>): boolean {
  return kept.some((word) => SOURCES.test(word));
}

/**
 * Reads a command line of git; `undefined` when it is none of `git commit`.
 *
 * @param exact the words are known one by one; else the line was split at blanks, and behind a value that may hold
 * some nothing can be told
 */
export function parseCommitWords(argv: readonly string[], exact = true): CommitWords | undefined {
  const words = commitArguments(argv);
  if (words === undefined) return undefined;
  const found = { amend: false, all: false, file: undefined as string | undefined };
  const messages: string[] = [];
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--' || word === '--end-of-options') break;
    const options = readOptions(word);
    if (options.at(-1)?.needs === true && !exact) break;
    for (const option of options) {
      const { name } = option;
      const value = option.needs ? (words[(at += 1)] ?? '') : option.value;
      if (/^(?:no-)?amend$/.test(name)) found.amend = name === 'amend';
      else if (name === 'all') found.all = true;
      else if (name === 'file') found.file = value;
      else if (name === 'message') messages.push(value ?? '');
      else if (name === 'reedit-message') kept.push(`--reuse-message=${value ?? ''}`);
      else if (KEPT.has(name)) kept.push(value === undefined ? `--${name}` : `--${name}=${value}`);
    }
  }
  return { ...found, messages, kept };
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
  readonly name: string;
  /** The value, when it stands in the same word. */
  readonly value?: string;
  /** The next word is the value. */
  readonly needs: boolean;
}

/** None of a pathspec. */
function readOptions(word: string): readonly Option[] {
  if (word.startsWith('--')) return [readLong(word.slice(2))];
  return word.startsWith('-') && word !== '-' ? readShort(word.slice(1)) : [];
}

/** git takes any beginning of a long option that fits only one. */
function readLong(text: string): Option {
  const end = text.indexOf('=');
  const typed = end < 0 ? text : text.slice(0, end);
  const value = end < 0 ? {} : { value: text.slice(end + 1) };
  const not = typed.startsWith('no-') ? 'no-' : '';
  const known = fullName(typed.slice(not.length));
  if (known === undefined) return { name: typed, ...value, needs: false };
  const needs = not === '' && end < 0 && OPTIONS.get(known) === '=';
  return { name: `${not}${known}`, ...value, needs };
}

function fullName(beginning: string): string | undefined {
  if (OPTIONS.has(beginning)) return beginning;
  const names = [...OPTIONS.keys()].filter((name) => beginning !== '' && name.startsWith(beginning));
  return names.length === 1 ? names[0] : undefined;
}

/** One-letter options stand together: `-am <message>`. */
function readShort(letters: string): readonly Option[] {
  const options: Option[] = [];
  const all = Array.from(letters);
  for (const [at, letter] of all.entries()) {
    const name = LETTERS[letter] ?? letter;
    const takes = OPTIONS.get(name) ?? '';
    const rest = all.slice(at + 1).join('');
    const value = rest === '' ? {} : { value: rest };
    options.push({ name, ...(takes === '' ? {} : value), needs: takes === '=' && rest === '' });
    if (takes !== '') break;
  }
  return options;
}
