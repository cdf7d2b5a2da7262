import { filled } from './fill.ts';
import type { WordKind, OfferedOption, OfferedVerb } from './model.ts';
import script from './shells/git-handoff.fish';

/** Completion for fish, whose own for git asks for that of `git-handoff`. */
export function fishCompletion(verbs: readonly OfferedVerb[]): string {
  return filled(script, {
    VERBS: verbs
      .map(
        ({ name, summary }) =>
          `complete -c git-handoff -n __git_handoff_needs_verb -a ${name} -d ${quoted(summary)}`,
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
    ...options.map((option) => `${begin}${optionWords(option)} -d ${quoted(option.describe)}`),
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

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
