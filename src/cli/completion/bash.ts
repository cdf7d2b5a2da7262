import { filled } from './fill.ts';
import type { WordKind, OfferedVerb } from './model.ts';
import script from './shells/git-handoff.bash';

/** Completion for bash, also behind git's own, which calls `_git_handoff`. */
export function bashCompletion(verbs: readonly OfferedVerb[]): string {
  return filled(script, {
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
