import type { Context } from '../sessions/caller.ts';
import type { Rendered, TextContext } from '../ui/terminal.ts';
import type { Arguments, OptionTable } from './options.ts';
import type { Failure } from '../domain/messages.ts';
import type { InstallContext } from '../install/client.ts';

export type VerbGroup = 'notes' | 'sharing' | 'rescue' | 'remotes' | 'setup';

/** A verb: what help says about it, and how its words become a call. */
export interface Verb {
  readonly usage: string;
  readonly group: VerbGroup;
  /** One short line, which lists of verbs and the completion show. */
  readonly summary: string;
  /** What the verb's own help adds. */
  readonly details?: string;
  /** The minimum and maximum number of words after the verb. */
  readonly words: readonly [least: number, most: number];
  readonly options: OptionTable;
  readonly examples: readonly (readonly [command: string, gloss: string])[];
  run(args: Arguments, context: Context, interaction: Interaction): Promise<Answer>;
}

/** Verbs by name, in the order of help. */
export type VerbTable = Readonly<Record<string, Verb>>;

/** A command's result, and a function that makes the text for a terminal when it is needed. */
export interface Answer {
  readonly result: CommandResult<object>;
  readonly render: (view: Omit<TextContext, 'clients'>) => Promise<Rendered>;
}

/** Joins a result with its text; the module that makes the text is loaded only when a terminal wants it. */
export function answer<T extends object>(
  result: CommandResult<T>,
  load: () => Promise<(value: T, view: TextContext) => Rendered>,
): Answer {
  const { clients } = result;
  return { result, render: async (view) => (await load())(result.value, { ...view, clients }) };
}

/** The first word after the verb; empty if there is none. */
export const word = (args: Arguments): string => args.words[0] ?? '';

/** The result of a command; `value` is the body of `--json`. */
export interface CommandResult<T> {
  readonly value: T;
  /** Lines for stderr, as `notice: …`. */
  readonly notices?: readonly string[];
  readonly hint?: string;
  /** 1 is a clear no (a stale note, a finding); failures are thrown. `try` returns the exit status of its command. */
  readonly exitCode?: number;
  /** What went wrong with a part of the work: printed after the answer, and decides the exit code. */
  readonly failure?: Failure;
  /** The clients of the sessions on record: the text names a session by its client. */
  readonly clients?: ReadonlyMap<string, string>;
  /** Bytes for stdout instead of the rendered text. */
  readonly bytes?: Uint8Array;
}

/** How a command talks to the person and the process: it has no other access to them. */
export interface Interaction {
  /** Reads a note; an editor is opened later, when everything else is known to be right. */
  readonly note: (request: NoteRequest) => Promise<Note>;
  /** Reads the file that a command line names; `-` is standard input. */
  readonly read: (file: string) => Promise<Uint8Array>;
  /** Shows progress on one line of the terminal, in place of the former text; `undefined` where nobody looks. */
  readonly progress: ((line: string) => void) | undefined;
  /** Prints a notice before something happens. */
  readonly warn: (text: string) => void;
  /** Prints what another program wrote to standard error. */
  readonly pass: (output: Uint8Array) => void;
  /** Asks a question and reads one line; `undefined` where no person sits at a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  installContext: () => Promise<InstallContext>;
}

interface NoteRequest {
  readonly messages: readonly string[];
  readonly file: string | undefined;
}

export type Note =
  Uint8Array | ((target: { branch: string; topic: string; head: string }) => Promise<Uint8Array>);
