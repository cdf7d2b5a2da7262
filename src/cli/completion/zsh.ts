import { filled } from './fill.ts';
import type { WordKind, OfferedOption, OfferedVerb } from './model.ts';
import script from './shells/git-handoff.zsh';

/** Completion for zsh, also behind its own for git, which calls `_git-handoff`. */
export function zshCompletion(verbs: readonly OfferedVerb[]): string {
  return filled(script, {
    VERBS: verbs.map(({ name, summary }) => `      ${quoted(`${name}:${summary}`)}`).join('\n'),
    CASES: verbs.map(verbCase).join('\n'),
  });
}

function verbCase({ name, options, word }: OfferedVerb): string {
  const specs = options.map((option) => `      ${optionSpec(option)} \\\n`).join('');
  const place = word === 'none' || word === 'file' ? [] : [quoted(`:${label(word)}:${action(word)}`)];
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
  const spec = (one: string) => quoted(`${once}${name(one)}${text}${rest}`);
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

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
