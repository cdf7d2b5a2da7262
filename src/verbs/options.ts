/** One option of a verb. The table of a verb's options serves yargs-parser, yargs' help and the completion. */
export interface OptionSpec {
  readonly type: 'boolean' | 'string';
  readonly alias?: string;
  /** Whether the option may be given several times. */
  readonly array?: true;
  /** Whether `--name` alone is allowed, besides `--name=value`. */
  readonly optionalValue?: true;
  /** The placeholder of the value in help, such as `<oid>`. */
  readonly value?: string;
  readonly describe: string;
}

export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** Makes an option without a value. */
export const flag = (describe: string, more: Pick<OptionSpec, 'alias'> = {}): OptionSpec => ({
  type: 'boolean',
  describe,
  ...more,
});

/** Makes an option with a value. Help shows the value's placeholder. */
export const option = (
  value: string,
  describe: string,
  more: Pick<OptionSpec, 'alias' | 'array' | 'optionalValue'> = {},
): OptionSpec => ({ type: 'string', value, describe, ...more });

/** The words of a command line, checked against a verb's table. */
export interface Arguments {
  readonly words: readonly string[];
  /** The words after `--`; they are also the last of `words`. */
  readonly afterDashes: readonly string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
}

export const COMMON_OPTIONS = {
  json: { type: 'boolean', describe: 'print one JSON object' },
  quiet: { type: 'boolean', alias: 'q', describe: 'print only notices and errors' },
  session: { type: 'string', value: '<id>', describe: 'act as this session (for people and tests)' },
  help: { type: 'boolean', alias: 'h', describe: 'show this help' },
} as const satisfies OptionTable;

export const EXPECT = option(
  '<oid>',
  'only if the handoff is still at this commit (none: only if there is no note yet)',
);
