import yargs from 'yargs';
import { Failure } from '../domain/failure.ts';
import { COMMON_OPTIONS, type OptionSpec, type OptionTable } from '../verbs/options.ts';
import { VERBS } from './verbs.ts';

/** What most people type first, in the order of a day. */
const EXAMPLES = [
  ['git handoff init', 'switch it on in this repository'],
  ["git handoff write auth-refresh -m 'Next: the retry test.'", 'leave a note'],
  ['git handoff boot', "go on from this branch's note, checked against the repository"],
  ['git handoff take auth-refresh', "become the owner of another session's note"],
  ['git handoff status', 'whose each uncommitted change is'],
] as const;

/** The help text of a verb, or of the whole program, rendered by yargs from the one options table. */
export async function helpText(verb: string | undefined): Promise<string> {
  const known = verb === undefined ? undefined : VERBS[verb];
  const program = yargs([])
    .scriptName('git handoff')
    .wrap(100)
    .locale('en')
    .version(false)
    .help(false)
    .usage(
      known === undefined
        ? 'usage: git handoff <verb> [<options>]'
        : `usage: git handoff ${known.usage}\n\n${known.summary}`,
    );
  if (known === undefined) {
    for (const { usage, summary } of Object.values(VERBS)) program.command(usage, summary);
    for (const [command, gloss] of EXAMPLES) program.example(command, gloss);
    program.epilogue('git handoff <verb> -h shows a verb; git help handoff opens the manual.');
  } else {
    program.options(yargsOptions({ ...known.options, ...COMMON_OPTIONS }));
    for (const [command, gloss] of known.examples) program.example(command, gloss);
  }
  return `${await program.getHelp()}\n`;
}

function yargsOptions(table: OptionTable) {
  const option = ({ alias, value, describe }: OptionSpec) => ({
    describe: value === undefined ? describe : `${value}: ${describe}`,
    ...(alias === undefined ? {} : { alias }),
  });
  return Object.fromEntries(Object.entries(table).map(([name, spec]) => [name, option(spec)]));
}

/** What to say to a verb that does not exist: the nearest one that does. */
export function unknownVerb(verb: string): Failure {
  const near = Object.keys(VERBS)
    .map((known) => ({ known, distance: editDistance(verb, known) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const hint = near !== undefined && near.distance <= 2 ? `git handoff ${near.known} -h` : 'git handoff -h';
  return new Failure('usage', `there is no verb ${JSON.stringify(verb)}`, { hint });
}

/** Levenshtein distance of two short words. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= Math.min(a.length, 32); i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? b.length;
}
