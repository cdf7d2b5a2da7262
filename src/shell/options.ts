import { patternMatcher } from './pattern.ts';

/** The options of a command line, sorted by getopt's rules. */
export interface Options {
  /** The values of each given option, in order; a flag's value is ''. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
}

/** Which options take a value, written as in getopt(3). */
export interface GetoptSpec {
  /** Short options: `o:` takes a value, `i::` only an attached one. All others are flags. */
  readonly short?: string;
  /** Long options, separated by blanks: `name=` takes a value, `name=?` an optional one. */
  readonly long?: string;
  /** The long option that each one-letter option stands for. The values of both are stored under the long name. */
  readonly letters?: Readonly<Record<string, string>>;
  /** Whether options end at the first operand (`env`, `timeout`, shells). */
  readonly stops?: boolean;
}

/** Sorts words into options and operands. Long options may be abbreviated, and `--` ends the options. */
export function parseOptions(args: readonly string[], spec: GetoptSpec): Options {
  const values = new Map<string, string[]>();
  let operands: string[] = [];
  const add = (given: string, value: string) => {
    const name = spec.letters?.[given] ?? given;
    const earlier = values.get(name);
    if (earlier === undefined) values.set(name, [value]);
    else earlier.push(value);
  };
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? '';
    if (word === '--' || word === '--end-of-options') {
      operands = operands.concat(args.slice(i + 1));
      break;
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const known = longOption(spec.long ?? '', equals < 0 ? word.slice(2) : word.slice(2, equals));
      if (equals >= 0) add(known.name, word.slice(equals + 1));
      else add(known.name, known.takesValue ? (args[++i] ?? '') : '');
    } else if (word.startsWith('-') && word !== '-') {
      i += shortOptions(word.slice(1), args[i + 1], spec.short ?? '', add);
    } else if (spec.stops === true) {
      operands = operands.concat(args.slice(i));
      break;
    } else operands.push(word);
  }
  return { values, operands };
}

/** Reads a cluster of short options (`-Ei.bak`); returns how many further words it took. */
function shortOptions(
  cluster: string,
  next: string | undefined,
  spec: string,
  add: (name: string, value: string) => void,
): number {
  for (let i = 0; i < cluster.length; i++) {
    const letter = cluster.charAt(i);
    const at = spec.indexOf(letter);
    const rest = cluster.slice(i + 1);
    if (at < 0 || spec[at + 1] !== ':' || letter === ':') add(letter, '');
    else if (spec[at + 2] === ':') {
      add(letter, rest);
      return 0;
    } else {
      add(letter, rest === '' ? (next ?? '') : rest);
      return rest === '' ? 1 : 0;
    }
  }
  return 0;
}

function longOption(spec: string, given: string): { name: string; takesValue: boolean } {
  const names = spec.split(' ').filter((entry) => entry.startsWith(given));
  const exact = names.find((entry) => entry.replace(/=\??$/, '') === given) ?? names[0];
  if (exact === undefined) return { name: given, takesValue: false };
  return { name: exact.replace(/=\??$/, ''), takesValue: exact.endsWith('=') };
}

/** Whether one of the named options was given. */
export function hasOption(options: Options, ...names: readonly string[]): boolean {
  return names.some((name) => options.values.has(name));
}

/** Returns the last value of the named options; `undefined` when none was given. */
export function optionValue(options: Options, ...names: readonly string[]): string | undefined {
  return optionValues(options, ...names).at(-1);
}

/** Returns all values of the named options. */
export function optionValues(options: Options, ...names: readonly string[]): string[] {
  return names.flatMap((name) => options.values.get(name) ?? []);
}

/** Returns a table's entries by name. A key holds one name, or several with blanks in between. */
export function byName<Value>(table: Readonly<Record<string, Value>>): ReadonlyMap<string, Value> {
  return new Map(
    Object.entries(table).flatMap(([names, value]) => names.split(' ').map((name) => [name, value] as const)),
  );
}

/** git's pathspecs (gitglossary(7)), matched without git. An unknown form (`:(attr:…)`) covers everything. */

interface Pathspec {
  readonly excludes: boolean;
  readonly covers: (path: string) => boolean;
}

/**
 * Returns a test of whether pathspecs cover a path. The path, and the folder where the pathspecs are typed, are relative to the
 * top of the working tree.
 */
export function pathspecMatcher(words: readonly string[], folder: string): (path: string) => boolean {
  const specs = words.map((word) => parsePathspec(word, folder));
  const included = specs.filter(({ excludes }) => !excludes);
  const excluded = specs.filter(({ excludes }) => excludes);
  return (path) =>
    (included.length === 0 || included.some(({ covers }) => covers(path))) &&
    !excluded.some(({ covers }) => covers(path));
}

function parsePathspec(word: string, folder: string): Pathspec {
  const [, long, short = '', rest = word] = /^:(?:\(([^)]*)\)|([/!^]+):?)(.*)$/s.exec(word) ?? [];
  const magic = long?.split(',') ?? Array.from(short);
  const isKnown = magic.every((name) => /^(?:top|exclude|literal|glob|[/!^]|)$/.test(name));
  // An unknown exclusion excludes nothing: excluding too little is safe.
  if (word === ':' || !isKnown) return { excludes: false, covers: () => true };
  const isTop = magic.includes('top') || magic.includes('/');
  return {
    excludes: magic.some((name) => /^(?:exclude|[!^])$/.test(name)),
    covers: matcher(rest, isTop ? '' : folder, magic.includes('literal')),
  };
}

function matcher(text: string, folder: string, isLiteral: boolean): (path: string) => boolean {
  const full = normalised(folder === '' || text.startsWith('/') ? text : `${folder}/${text}`);
  const isNamed = (path: string) => full === '' || path === full || path.startsWith(`${full}/`);
  if (isLiteral || !/[*?[\\]/.test(full)) return isNamed;
  const matches = patternMatcher(full);
  return (path) => isNamed(path) || matches(path);
}

/** Resolves `.` and `..` without looking at the disk, and drops slashes at both ends. A `..` at the top is dropped. */
export function normalised(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
