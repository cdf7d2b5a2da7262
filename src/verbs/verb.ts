import type { Context } from '../sessions/caller.ts';
import type { CommandResult } from './result.ts';
import type { Rendered, TextContext } from '../ui/terminal.ts';
import type { Interaction } from './interaction.ts';
import type { Arguments, OptionTable } from './options.ts';

/** What a verb is for: `git handoff` lists the verbs by it. */
export type VerbGroup = 'notes' | 'sharing' | 'rescue' | 'remotes' | 'setup';

/** A verb: what help says about it, and how its words become a call. */
export interface Verb {
  readonly usage: string;
  readonly group: VerbGroup;
  /** One short line: the lists of help and the completion show it. */
  readonly summary: string;
  /** What the verb's own help adds. */
  readonly details?: string;
  /** Least and most words after the verb. */
  readonly words: readonly [least: number, most: number];
  readonly options: OptionTable;
  readonly examples: readonly (readonly [command: string, gloss: string])[];
  run(args: Arguments, context: Context, interaction: Interaction): Promise<Answer>;
}

/** Verbs by name, in the order of help. */
export type VerbTable = Readonly<Record<string, Verb>>;

/** A command's result and the text that a terminal shows for it (made only when it is asked for). */
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

/** The first word after the verb; empty where there is none. */
export const word = (args: Arguments): string => args.words[0] ?? '';
