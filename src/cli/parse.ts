import parser from 'yargs-parser';
import { Failure } from '../domain/failure.ts';
import { type Arguments, COMMON_OPTIONS, type OptionTable } from '../verbs/options.ts';

/** Joins `--output -` to `--output=-`: the parser takes a dash by itself for an option. */
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
 * Parses the words after a verb with yargs-parser, the core of yargs: loading yargs itself costs more
 * than three starts of bare Node, and only help and completion need it.
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
    // `--lost topic` must not take the topic for its value.
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
