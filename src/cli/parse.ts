import parser from 'yargs-parser';
import { Failure, shellWord } from '../domain/messages.ts';
import { type Arguments, COMMON_OPTIONS, type OptionTable } from '../verbs/options.ts';
import { realpathSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { homeFolder } from '../host/folders.ts';
import type { Io, Terminal } from '../host/io.ts';
import { renderNotice } from '../ui/terminal.ts';
import type { Interaction } from '../verbs/verb.ts';

/** Joins `--output -` into `--output=-`, because the parser takes a single dash for an option. */
function withDashes(argv: readonly string[], names: readonly string[]): string[] {
  const words: string[] = [];
  for (const word of argv) {
    const last = words.at(-1) ?? '';
    const takesIt = last.startsWith('--') && names.includes(last.slice(2)) && !words.includes('--');
    if (word === '-' && takesIt) words[words.length - 1] = `${last}=-`;
    else words.push(word);
  }
  return words;
}

/**
 * Parses a verb's words with yargs-parser, the core of yargs. Loading yargs takes over three times as long as starting Node.
 *
 * @throws Failure `usage` for an unknown option or a missing value.
 */
export function parseArguments(verb: string, argv: readonly string[], table: OptionTable): Arguments {
  const options: OptionTable = { ...table, ...COMMON_OPTIONS };
  const names = Object.keys(options);
  const aliases = names.flatMap((name) => options[name]?.alias ?? []);
  const ofType = (type: string) => names.filter((name) => options[name]?.type === type);
  const bare = names.filter((name) => options[name]?.optionalValue === true).map((name) => `--${name}`);
  const parsed = parser(
    // In `--lost topic`, the topic is not the option's value.
    withDashes(argv, ofType('string')).map((word) => (bare.includes(word) ? `${word}=` : word)),
    {
      boolean: ofType('boolean'),
      string: ofType('string'),
      alias: Object.fromEntries(names.map((name) => [name, options[name]?.alias ?? []])),
      configuration: {
        'boolean-negation': false,
        'camel-case-expansion': false,
        'dot-notation': false,
        'duplicate-arguments-array': true,
        'parse-numbers': false,
        'parse-positional-numbers': false,
        'populate--': true,
        'strip-aliased': true,
      },
    },
  );
  const fail = (message: string) => new Failure('usage', message, { hint: `git handoff ${verb} -h` });
  for (const [name, value] of Object.entries(parsed)) {
    if (name === '_' || name === '--') continue;
    if (options[name] === undefined && !aliases.includes(name)) {
      throw fail(`unknown option ${name.length === 1 ? '-' : '--'}${name}`);
    }
    if (Array.isArray(value) && options[name]?.array !== true) throw fail(`--${name} is given twice`);
    const needsValue = options[name]?.type === 'string' && options[name].optionalValue !== true;
    if (needsValue && [value].flat().includes('')) throw fail(`--${name} needs a value`);
  }
  const values = parsed as Readonly<Record<string, unknown>>;
  const afterDashes = ((parsed['--'] as string[] | undefined) ?? []).map(String);
  return {
    words: [...parsed._.map(String), ...afterDashes],
    afterDashes,
    flag: (name) => values[name] === true,
    text: (name) => (typeof values[name] === 'string' ? values[name] : undefined),
    texts: (name) => [values[name] ?? []].flat().map(String),
  };
}

/** How a verb reads its note, asks its user, warns and shows progress. */
export function interaction(io: Io): Interaction {
  const { cwd, env, stderr, terminal } = io;
  const read = async (file: string) => (file === '-' ? readStdin(io) : readNamedFile(resolve(cwd, file)));
  const ask =
    terminal?.isInput === true ? (question: string) => askAtTerminal(question, terminal) : undefined;
  return {
    note: noteSource(io, read),
    read,
    progress: terminal?.isErrors === true ? (line) => void stderr.write(`\r\x1b[K${line}`) : undefined,
    warn: (text) => void stderr.write(renderNotice(text)),
    pass: (output) => void stderr.write(output),
    ask,
    installContext: async () => {
      const { lastingName } = await import('../install/programs.ts');
      return {
        cwd,
        home: homeFolder(env),
        env,
        packageRoot: lastingName(dirname(dirname(realpathSync(io.program)))),
        nodePath: lastingName(process.execPath),
        // Any answer but yes means no.
        confirm: ask && (async (plan) => /^y(?:es)?$/i.test((await ask(`${plan}\nApply? [y/N] `)).trim())),
        git: (await import('../git/run.ts')).runGit,
        platform: process.platform,
      };
    },
  };
}

/** Reads the note from `-m`, `--file` or a piped stdin, or returns a function that opens the editor. */
function noteSource({ cwd, terminal }: Io, read: Interaction['read']): Interaction['note'] {
  return async ({ messages, file }) => {
    if (messages.length > 0 && file !== undefined) {
      throw new Failure('usage', '-m and --file exclude each other', { hint: 'git handoff write -h' });
    }
    if (messages.length > 0) return Buffer.from(`${messages.join('\n\n')}\n`);
    if (file !== undefined || terminal?.isInput !== true) return read(file ?? '-');
    return async (target) => (await import('./editor.ts')).editNote(cwd, target);
  };
}

function readNamedFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure('usage', `cannot read ${JSON.stringify(file)} (${code})`, {
      hint: `ls -l -- ${shellWord(file)}`,
      cause: error,
    });
  }
}

async function readStdin({ stdin, budget }: Io): Promise<Uint8Array> {
  try {
    return (await stdin.readAll(budget(Infinity))) ?? Buffer.alloc(0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A closed stdin counts as empty.
    if (code === 'EBADF') return Buffer.alloc(0);
    throw new Failure('environment', `stdin cannot be read (${code})`, {
      hint: 'git handoff write <topic> --file <file>',
      cause: error,
    });
  }
}

/** Asks at the terminal and returns what was typed, or an empty text at the end of the input. */
async function askAtTerminal(question: string, terminal: Terminal): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: terminal.input(), output: terminal.output() });
  try {
    // At the end of the input (^D) there is no answer, and a question would wait for ever.
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return await Promise.race([lines.question(question), closed]);
  } finally {
    lines.close();
  }
}
