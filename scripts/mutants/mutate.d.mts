/** The part of an entry in test/mutants/mutants.json that says what is changed. */
export interface Mutation {
  readonly file: string;
  /** The top-level declaration (`Class.member`), or the shell function or variable; without it, the script itself. */
  readonly in?: string;
  readonly operator: string;
  /** Which of the operator's places is meant: a word, the place's number, or words and a number. */
  readonly at?: string | number | readonly (string | number)[];
  readonly with?: unknown;
}

export const OPERATORS: Readonly<Record<'typescript' | 'shell', Readonly<Record<string, unknown>>>>;

export function mutate(
  mutation: Mutation,
  text: string,
): { text: string; start: number; end: number; replacement: string };
