import { INSTALLERS } from '../../install/clients.ts';
import { COMMON_OPTIONS, type OptionSpec } from '../../verbs/options.ts';
import type { VerbTable } from '../../verbs/verb.ts';

/** What may stand at a place of the command line: the shells look it up in the refs, or know the words. */
export type WordKind =
  | 'none'
  | 'file'
  | 'topic'
  /** A topic that need not exist: topics, and branches with a slash behind. */
  | 'place'
  | 'branch'
  | 'session'
  | { readonly words: readonly string[] };

/** One option as a shell offers it. */
export interface OfferedOption {
  /** `--message`, and `-m` if it has a short form. */
  readonly names: readonly string[];
  readonly describe: string;
  /** What its value is; undefined for a switch, and where the value may be left out. */
  readonly value: WordKind | undefined;
  readonly repeats: boolean;
}

/** One verb as a shell offers it. */
export interface OfferedVerb {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OfferedOption[];
  readonly word: WordKind;
}

/** The shells that `git handoff completion` knows. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Everything that can be completed, in the order of help: read from the tables that parse the command line. */
export function offeredVerbs(verbs: VerbTable): readonly OfferedVerb[] {
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
