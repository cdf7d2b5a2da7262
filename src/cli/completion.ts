import { escapeLine } from '../domain/messages.ts';
import { HANDOFFS, LIVE, decodeBranch, parsePath } from '../git/namespace.ts';
import { listRefNames } from '../git/refs.ts';
import { type Repository, openRepository } from '../git/repository.ts';
import { INSTALLERS } from '../install/clients.ts';
import { COMMON_OPTIONS, type OptionSpec } from '../verbs/options.ts';
import type { Verb, VerbTable } from '../verbs/verb.ts';
import bashScript from './shells/git-handoff.bash';
import fishScript from './shells/git-handoff.fish';
import zshScript from './shells/git-handoff.zsh';

const MOST_NAMES = 1000;

interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/**
 * Returns the candidates for the last word, which is being typed: one a line, as `<word>` or `<word>TAB<what it is for>`.
 * A candidate that ends in a slash is incomplete. Without candidates, the shell offers files.
 */
export async function wordsToType(words: readonly string[], verbs: VerbTable, cwd: string): Promise<string> {
  const typed = words.at(-1) ?? '';
  const found = await offered(words.slice(0, -1), typed, verbs, cwd);
  const lines = found
    .filter(({ word }) => word.startsWith(typed) && isHarmless(word))
    .slice(0, MOST_NAMES)
    .map(({ word, about }) => `${word}${about === undefined ? '' : `\t${about}`}\n`);
  return [...new Set(lines)].join('');
}

/** Whether a terminal may show a word unescaped: names of branches and topics come from others. */
const isHarmless = (word: string) => escapeLine(word) === word;

async function offered(
  [name, ...before]: readonly string[],
  typed: string,
  verbs: VerbTable,
  cwd: string,
): Promise<readonly Candidate[]> {
  if (name === undefined) {
    const all = Object.entries(verbs).map(([word, { summary }]) => ({ word, about: summary }));
    return [...all, { word: '-h' }, { word: '--help' }, { word: '--version' }];
  }
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  // After `--` come paths.
  if (verb === undefined || before.includes('--')) return [];
  const options = optionsOf(verb);
  const [option = ''] = /^--[a-z-]+=/.exec(typed) ?? [];
  if (option !== '') {
    const values = await valuesOf(options.get(option.slice(0, -1)), cwd);
    return values.map((value) => ({ word: option + value }));
  }
  const asking = options.get(before.at(-1) ?? '');
  if (takesValue(asking)) return asWords(await valuesOf(asking, cwd));
  if (typed.startsWith('-')) return [...options].map(([word, { describe }]) => ({ word, about: describe }));
  const isFirst = before.every(
    (one, at) => one.startsWith('-') || takesValue(options.get(before[at - 1] ?? '')),
  );
  return isFirst ? asWords(await firstWords(name, verb, cwd)) : [];
}

const asWords = (words: readonly string[]) => words.map((word) => ({ word }));

/** A verb's options by what people type for them (`--message`, `-m`). */
function optionsOf({ options }: Verb): ReadonlyMap<string, OptionSpec> {
  const all = Object.entries<OptionSpec>({ ...options, ...COMMON_OPTIONS });
  return new Map(
    all.flatMap(([long, spec]) =>
      [`--${long}`, ...(spec.alias === undefined ? [] : [`-${spec.alias}`])].map((name) => [name, spec]),
    ),
  );
}

const takesValue = (spec: OptionSpec | undefined) =>
  spec !== undefined && spec.type === 'string' && spec.optionalValue !== true;

/** The values that an option may have, judging by its placeholder in help; none for an option that takes a file. */
async function valuesOf(spec: OptionSpec | undefined, cwd: string): Promise<readonly string[]> {
  const value = spec?.value ?? '';
  if (/^[a-z]+(?:\|[a-z]+)+$/.test(value)) return value.split('|');
  return (await VALUES[value]?.(cwd)) ?? [];
}

/** For each placeholder in help, the function that finds the values. */
const VALUES: Readonly<Record<string, (cwd: string) => Promise<readonly string[]> | readonly string[]>> = {
  '<branch>': branches,
  '<topic>': topics,
  '<id>': sessions,
  '<name>': () => [...INSTALLERS.map(({ client }) => client), 'all', 'none'],
  '<operator>': () => ['me'],
};

/** What the first word after a verb may be, judging by the verb's usage. */
async function firstWords(name: string, { usage }: Verb, cwd: string): Promise<readonly string[]> {
  if (name === 'rescue') return ['list', 'show', 'restore', 'search'];
  if (usage.includes('<shell>')) return [...SCRIPTS.keys()];
  if (!usage.includes('<topic>')) return [];
  // A new note may go to a branch that has no notes.
  const places = name === 'write' ? (await branches(cwd)).map((branch) => `${branch}/`) : [];
  return [...(await topics(cwd)), ...places];
}

/** The topics of the current branch by name alone, and those of every branch as `<branch>/<topic>`. */
async function topics(cwd: string): Promise<readonly string[]> {
  return inRepository(cwd, async (repository) => {
    const refs = await listRefNames(repository, [HANDOFFS]);
    return refs.flatMap(({ name }) => {
      const path = parsePath(name, HANDOFFS);
      // A ref holds only the beginning of a long branch name; the whole name is not known here.
      const branch = path === undefined ? undefined : decodeBranch(path.component);
      if (path === undefined || branch === undefined) return [];
      return [...(branch === repository.branch ? [path.topic] : []), `${branch}/${path.topic}`];
    });
  });
}

function branches(cwd: string): Promise<readonly string[]> {
  return namesBelow(cwd, 'refs/heads/');
}

async function sessions(cwd: string): Promise<readonly string[]> {
  return (await namesBelow(cwd, LIVE)).map((name) => name.slice(name.lastIndexOf('/') + 1));
}

function namesBelow(cwd: string, prefix: string): Promise<readonly string[]> {
  return inRepository(cwd, async (repository) =>
    (await listRefNames(repository, [prefix])).map(({ name }) => name.slice(prefix.length)),
  );
}

/** Returns no names if there is no repository: no error may appear while somebody types. */
async function inRepository(
  cwd: string,
  names: (repository: Repository) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    return await names(await openRepository(cwd));
  } catch {
    return [];
  }
}

/** Each shell's script, which asks git-handoff for the words when somebody presses TAB. */
export const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);
