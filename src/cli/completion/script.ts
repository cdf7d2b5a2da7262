import { INSTALLERS } from '../../install/clients.ts';
import { COMMON_OPTIONS, type OptionSpec } from '../../verbs/options.ts';
import type { VerbTable } from '../../verbs/verb.ts';
import bashScript from './shells/git-handoff.bash';
import fishScript from './shells/git-handoff.fish';
import zshScript from './shells/git-handoff.zsh';

const WRITERS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** What a shell has to read to complete this release's verbs and options; undefined for a shell that we do not know. */
export function completionScript(shell: string, verbs: VerbTable): string | undefined {
  const known = SHELLS.find((name) => name === shell);
  return known === undefined ? undefined : WRITERS[known](offeredVerbs(verbs));
}

/** What may stand at a place of the command line: the shells look it up in the refs, or know the words. */
type WordKind =
  | 'none'
  | 'file'
  | 'topic'
  /** A topic that need not exist: topics, and branches with a slash behind. */
  | 'place'
  | 'branch'
  | 'session'
  | { readonly words: readonly string[] };

/** One option as a shell offers it. */
interface OfferedOption {
  /** `--message`, and `-m` if it has a short form. */
  readonly names: readonly string[];
  readonly describe: string;
  /** What its value is; undefined for a switch, and where the value may be left out. */
  readonly value: WordKind | undefined;
  readonly repeats: boolean;
}

/** One verb as a shell offers it. */
interface OfferedVerb {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OfferedOption[];
  readonly word: WordKind;
}

/** The shells that `git handoff completion` knows. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Everything that can be completed, in the order of help: read from the tables that parse the command line. */
function offeredVerbs(verbs: VerbTable): readonly OfferedVerb[] {
  return Object.entries(verbs).map(([name, { usage, summary, options }]) => ({
    name,
    summary,
    word: wordKind(name, usage),
    options: Object.entries({ ...options, ...COMMON_OPTIONS }).map(([long, spec]) => offered(long, spec)),
  }));
}

function offered(long: string, spec: OptionSpec): OfferedOption {
  return {
    names: [...(spec.alias === undefined ? [] : [`-${spec.alias}`]), `--${long}`],
    describe: spec.describe,
    value: spec.type === 'boolean' || spec.optionalValue === true ? undefined : valueKind(spec),
    repeats: spec.array === true,
  };
}

/** What an option's value is, by what stands for it in help. */
function valueKind({ value = '' }: OptionSpec): WordKind {
  if (/^[a-z]+(?:\|[a-z]+)+$/.test(value)) return { words: value.split('|') };
  switch (value) {
    case '<file>':
      return 'file';
    case '<branch>':
      return 'branch';
    case '<topic>':
      return 'topic';
    case '<id>':
      return 'session';
    case '<name>':
      return { words: [...INSTALLERS.map(({ client }) => client), 'all', 'none'] };
    case '<operator>':
      return { words: ['me'] };
    default:
      return 'none';
  }
}

/** What the words after a verb are, by its usage. */
function wordKind(name: string, usage: string): WordKind {
  if (name === 'rescue') return { words: ['list', 'show', 'restore'] };
  if (usage.includes('<shell>')) return { words: SHELLS };
  if (usage.includes('<topic>')) return name === 'write' ? 'place' : 'topic';
  return /<path(?:spec)?>/.test(usage) ? 'file' : 'none';
}

/** Puts the texts into a shell's script, in place of `@NAME@`; they may hold anything. */
function filled(script: string, texts: Readonly<Record<string, string>>): string {
  return script.replace(/@([A-Z]+)@/g, (place, name: string) => texts[name] ?? place);
}

/** Completion for bash, also behind git's own, which calls `_git_handoff`. */
function bashCompletion(verbs: readonly OfferedVerb[]): string {
  return filled(bashScript, {
    VERBS: verbs.map(({ name }) => name).join(' '),
    CASES: verbs.map((verb) => `    ${verb.name}) ${verbTable(verb)} ;;`).join('\n'),
  });
}

function verbTable({ options, word }: OfferedVerb): string {
  const names = options.flatMap((option) => option.names).join(' ');
  const values = options.flatMap(({ names: each, value }) =>
    value === undefined ? [] : each.map((name) => `${name}=${kindWord(value)}`),
  );
  return `options='${names}' values='${values.join(' ')}' kind=${kindWord(word)}`;
}

/** A kind as one word of the table; fixed words are joined with commas. */
function kindWord(kind: WordKind): string {
  return typeof kind === 'string' ? kind : `,${kind.words.join(',')}`;
}

/** Completion for zsh, also behind its own for git, which calls `_git-handoff`. */
function zshCompletion(verbs: readonly OfferedVerb[]): string {
  return filled(zshScript, {
    VERBS: verbs.map(({ name, summary }) => `      ${quotedZsh(`${name}:${summary}`)}`).join('\n'),
    CASES: verbs.map(verbCase).join('\n'),
  });
}

function verbCase({ name, options, word }: OfferedVerb): string {
  const specs = options.map((option) => `      ${optionSpec(option)} \\\n`).join('');
  const place = word === 'none' || word === 'file' ? [] : [quotedZsh(`:${label(word)}:${action(word)}`)];
  const words = [...place, "'*:path:_files'"].join(' ');
  return `    ${name}) _arguments -s -S : \\\n${specs}      ${words} ;;`;
}

/** One argument of `_arguments`: what excludes it, its names, what it is for, its value. */
function optionSpec({ names, describe, value, repeats }: OfferedOption): string {
  const text = `[${describe.replace(/[\\\][]/g, '\\$&')}]`;
  const rest = value === undefined ? '' : `:${label(value)}:${action(value)}`;
  const [long = '', short] = [...names].reverse();
  const once = repeats ? '*' : `(${names.join(' ')})`;
  const name = (one: string) => (value !== undefined && one === long ? `${one}=` : one);
  const spec = (one: string) => quotedZsh(`${once}${name(one)}${text}${rest}`);
  return short === undefined ? spec(long) : `${spec(short)} ${spec(long)}`;
}

function label(kind: WordKind): string {
  return kind === 'none' ? 'value' : typeof kind === 'string' ? kind : 'word';
}

function action(kind: WordKind): string {
  if (typeof kind !== 'string') return `(${kind.words.join(' ')})`;
  const functions = {
    none: ' ',
    file: '_files',
    topic: '__git_handoff_topics',
    place: '__git_handoff_places',
    branch: '__git_handoff_branches',
    session: '__git_handoff_sessions',
  };
  return functions[kind];
}

function quotedZsh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Completion for fish, whose own for git asks for that of `git-handoff`. */
function fishCompletion(verbs: readonly OfferedVerb[]): string {
  return filled(fishScript, {
    VERBS: verbs
      .map(
        ({ name, summary }) =>
          `complete -c git-handoff -n __git_handoff_needs_verb -a ${name} -d ${quotedFish(summary)}`,
      )
      .join('\n'),
    CASES: verbs.flatMap(verbLines).join('\n'),
  });
}

function verbLines({ name, options, word }: OfferedVerb): string[] {
  const begin = `complete -c git-handoff -n '__git_handoff_verb ${name}'`;
  const words = offer(word);
  return [
    ...(words === '' ? [] : [`${begin}${words}`]),
    ...options.map((option) => `${begin}${optionWords(option)} -d ${quotedFish(option.describe)}`),
  ];
}

function optionWords({ names, value }: OfferedOption): string {
  const words = names.map((name) =>
    name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`,
  );
  if (value === undefined) return words.join('');
  return `${words.join('')} ${value === 'file' ? '-r' : '-x'}${offer(value)}`;
}

/** What a place takes; files are fish's own to offer. */
function offer(kind: WordKind): string {
  if (typeof kind !== 'string') return ` -a '${kind.words.join(' ')}'`;
  const offers = {
    none: '',
    file: ' -F',
    topic: " -a '(__git_handoff_topics)'",
    place: " -a '(__git_handoff_places)'",
    branch: " -a '(__git_handoff_branches)'",
    session: " -a '(__git_handoff_sessions)'",
  };
  return offers[kind];
}

function quotedFish(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
