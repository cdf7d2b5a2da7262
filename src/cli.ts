import { interaction, parseArguments } from './cli/parse.ts';
import { asFailure, escapeJson, Failure } from './domain/messages.ts';
import { type Io, processIo, processTerminal, asCall, runningCall } from './host/io.ts';
import { keptTable } from './host/processes.ts';
import { openTrace, trace } from './host/log.ts';
import type { Context } from './sessions/caller.ts';
import {
  COLOURS,
  PLAIN,
  type Paint,
  exitCode,
  failureJson,
  renderFailure,
  renderHint,
  renderNotice,
} from './ui/terminal.ts';
import { commandOfTry } from './shell/try-words.ts';
import { NOTE_VERBS } from './verbs/notes/note-verbs.ts';
import type { Answer, Verb } from './verbs/verb.ts';

/** Former names of verbs, which work until the next release, and what replaced them. */
const FORMER: ReadonlyMap<string, readonly string[]> = new Map([
  ['fetch', ['sync', '--fetch']],
  ['prune', ['delete', '--closed']],
  ['purge', ['delete']],
  ['push', ['sync', '--push']],
]);

/** Runs the command line that the process was started with (start.ts). */
export const main = (argv: readonly string[]): Promise<number> =>
  run(argv, Object.assign(processIo(), { terminal: processTerminal() }));

/**
 * Runs one command line and returns its exit code. Catches and prints all errors; any but a `Failure` is a bug.
 *
 * @param argv the pid of the launcher's parent, and what was typed
 */
export async function run([parent = '', ...typed]: readonly string[], io: Io): Promise<number> {
  const words = typed.flatMap(
    (word, at) => (at === (typed[0] === 'help' ? 1 : 0) ? FORMER.get(word) : undefined) ?? word,
  );
  const [verb, ...given] = words;
  const rest = verb === 'try' ? dashedCommand(given) : given;
  // After `--` the word `--json` is a path.
  const json = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : undefined).includes('--json');
  const budget = io.budget(Infinity);
  return asCall(budget, openTrace(io.env, io.stderr), async () => {
    trace('call', () => words.join(' '));
    try {
      const { cwd, env, clock } = io;
      const clientPid = Number(parent);
      const context = { cwd, env, clientPid, processes: keptTable(), now: clock(), clock, budget };
      return await runVerb(verb, rest, context, io);
    } catch (error) {
      const failure = asFailure(error);
      trace('verdict', () => `${failure.code}: ${failure.message}`);
      if (json) await printJson(failureJson(failure), io);
      await io.stderr.write(renderFailure(failure));
      return exitCode(failure);
    } finally {
      const { recorded = [] } = runningCall() ?? {};
      if (recorded.length > 0)
        await (await import('./sessions/happenings.ts')).notifySubscribers(recorded, io.env);
    }
  });
}

/** Puts `--` before the command that `try` runs, so that the command's options do not count as those of `try`. */
function dashedCommand(words: readonly string[]): readonly string[] {
  const { own, command } = commandOfTry(words);
  return [...own, '--', ...command];
}

/** Refuses a Node that is too old: the launcher starts whatever Node it finds, and a verb would fail halfway. */
function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Failure('environment', `Node.js 20.19 or later is needed, this is ${version}`, {
    hint: 'install a newer Node.js, or put it first on PATH',
  });
}

async function runVerb(
  verb: string | undefined,
  rest: readonly string[],
  context: Context,
  io: Io,
): Promise<number> {
  requireNode(process.versions.node);
  if (verb === '--version' || verb === 'version') return print(`git-handoff version ${__VERSION__}\n`, io);
  if (verb === undefined || verb === '-h' || verb === '--help' || verb === 'help') return printHelp(rest, io);
  const known = await verbNamed(verb);
  if (known === undefined) throw (await import('./cli/help.ts')).unknownVerb(verb);
  const args = parseArguments(verb, rest, known.options);
  if (args.flag('help')) return printHelp([verb], io);
  const [least, most] = known.words;
  if (args.words.length < least || args.words.length > most) {
    const message =
      args.words.length < least
        ? 'an argument is missing'
        : `unexpected argument ${JSON.stringify(args.words[most])}`;
    throw new Failure('usage', `${message}; usage: git handoff ${known.usage}`, {
      hint: `git handoff ${verb} -h`,
    });
  }
  const given = await known.run(args, context, interaction(io));
  return printAnswer(given, { isJson: args.flag('json'), isQuiet: args.flag('quiet') }, context.now, io);
}

/** Finds a verb. The verbs of notes are typed most, so they do not wait for the other verbs to be loaded. */
async function verbNamed(name: string): Promise<Verb | undefined> {
  if (Object.hasOwn(NOTE_VERBS, name)) return NOTE_VERBS[name];
  const { VERBS } = await import('./cli/verbs.ts');
  return Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
}

async function printAnswer(
  { result, render }: Answer,
  { isJson, isQuiet }: { readonly isJson: boolean; readonly isQuiet: boolean },
  now: number,
  io: Io,
): Promise<number> {
  const { failure } = result;
  const status = failure === undefined ? { schema: 1, ok: true } : failureJson(failure);
  if (isJson) await printJson({ ...status, ...result.value }, io);
  else if (!isQuiet)
    await io.stdout.write(
      result.bytes ??
        (await render({ now, paint: await paintFor(io), isAtTerminal: io.terminal?.isOutput === true })),
    );
  for (const notice of result.notices ?? []) await io.stderr.write(renderNotice(notice));
  if (result.hint !== undefined) await io.stderr.write(renderHint(result.hint));
  if (failure === undefined) return result.exitCode ?? 0;
  await io.stderr.write(renderFailure(failure));
  return exitCode(failure);
}

/** Chooses colours as git does: yes on a terminal or in a pager, unless a setting or the environment says no. */
async function paintFor({ terminal, env, cwd }: Io): Promise<Paint> {
  const isSeen = terminal?.isOutput === true || env['GIT_PAGER_IN_USE'] === 'true';
  if (!isSeen || env['NO_COLOR']) return PLAIN;
  const { readColour } = await import('./git/config.ts');
  const colour = await readColour(cwd);
  return colour === 'always' || (colour === 'auto' && env['TERM'] !== 'dumb') ? COLOURS : PLAIN;
}

/** Prints JSON, escaped: it may contain texts of others, and a terminal may show it. */
async function printJson(value: object, { stdout }: Io): Promise<void> {
  await stdout.write(`${escapeJson(JSON.stringify(value))}\n`);
}

/** Prints a verb's help. Without a verb, lists the common verbs; with `-a`, all verbs. */
async function printHelp([verb]: readonly string[], io: Io): Promise<number> {
  const isAll = verb === '-a' || verb === '--all';
  if (verb === undefined || isAll) return print((await import('./cli/help.ts')).overview(isAll), io);
  const { GUARD_HELP, helpText, unknownVerb } = await import('./cli/help.ts');
  if (verb === 'guard') return print(GUARD_HELP, io);
  const known = await verbNamed(verb);
  if (known === undefined) throw unknownVerb(verb);
  return print(await helpText(known), io);
}

async function print(text: string, { stdout }: Io): Promise<number> {
  await stdout.write(text);
  return 0;
}
