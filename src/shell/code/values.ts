import { UNKNOWN } from '../unknown.ts';
import type { Language, Token } from './tokens.ts';

/** What the code may ask about its surroundings. */
export interface Surroundings {
  readonly language: Language;
  readonly home: string;
  readonly cwd: string;
  /** Words after the program on its command line. */
  readonly argv: readonly string[];
  variable(name: string): string;
  glob(pattern: string): readonly string[];
  entries(folder: string): readonly string[];
}

/** Texts that each variable of the code may hold. */
export type Bindings = Map<string, readonly string[]>;

const MAX_TEXTS = 64;
const MAX_DEPTH = 24;
const MAX_LENGTH = 4096;
const JOINS = new Set(['join', 'joinpath', 'resolve', 'concat_path', 'catfile', 'normalize']);
const SAME = new Set(
  (
    'Path PurePath PosixPath Pathname path String str expanduser expandvars expand_path abspath realpath absolute ' +
    'resolve strip trim chomp toString to_s encode decode fspath URL fileURLToPath'
  ).split(' '),
);
const HOMES = new Set(['home', 'homedir']);
const FOLDERS = new Set(['getcwd', 'cwd', 'pwd']);
const GLOBS = new Set(['glob', 'iglob', 'globSync', 'rglob']);
/** Listings that give names, and those that give paths. */
const NAME_LISTS = new Set(['listdir', 'readdirSync', 'readdir', 'entries']);
const PATH_LISTS = new Set(['children', 'iterdir', 'scandir']);

/** Index after the bracket that closes the one at `open`. */
function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    const token = tokens[i];
    if (token?.kind !== 'mark') continue;
    if ('([{'.includes(token.text)) depth++;
    else if (')]}'.includes(token.text) && --depth === 0) return i + 1;
  }
  return tokens.length;
}

/** Cuts a range at the marks given, outside brackets. */
export function splitAt(tokens: readonly Token[], isCut: (token: Token) => boolean): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'mark' && '([{'.includes(token.text)) depth++;
    if (token.kind === 'mark' && ')]}'.includes(token.text)) depth--;
    if (depth === 0 && isCut(token)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

const isMark = (token: Token | undefined, text: string) => token?.kind === 'mark' && token.text === text;

/** The texts that an expression may come to; what is not understood is UNKNOWN. */
export function textsOf(
  range: readonly Token[],
  bindings: Bindings,
  world: Surroundings,
  depth = 0,
): readonly string[] {
  const tokens = range.filter((token) => token.kind !== 'newline');
  if (tokens.length === 0) return [''];
  if (depth > MAX_DEPTH) return [UNKNOWN];
  const inner = (part: readonly Token[]) => textsOf(part, bindings, world, depth + 1);
  const choices = splitAt(tokens, (t) => /^(?:\|\||\?\?|\?|:|or|else)$/.test(t.text) && t.kind !== 'string');
  if (choices.length > 1) return choices.flatMap(inner).slice(0, MAX_TEXTS);
  const dots = world.language === 'perl' || world.language === 'php';
  const sums = splitAt(tokens, (t) => t.kind === 'mark' && (t.text === '+' || (dots && t.text === '.')));
  const first = tokens[0];
  if (sums.length > 1 && !(dots && first?.kind === 'name' && !first.text.startsWith('$'))) {
    return product(sums.map(inner), '');
  }
  const quotients = splitAt(tokens, (t) => isMark(t, '/'));
  if (quotients.length > 1) return product(quotients.map(inner), '/');
  const [format, ...formatted] = splitAt(tokens, (t) => isMark(t, '%'));
  if (format !== undefined && formatted.length > 0) return filledIn(inner(format), formatted.flatMap(inner));
  if (isMark(first, '(') && closing(tokens, 0) === tokens.length) return listTexts(tokens, inner);
  if (isMark(first, '[') && closing(tokens, 0) === tokens.length) return listTexts(tokens, inner);
  if (
    tokens.at(-1)?.kind === 'string' &&
    tokens.every((token) => token.kind === 'string' || isPrefix(token))
  ) {
    return product(
      tokens.filter((token) => token.kind === 'string').map((token) => interpolated(token, bindings, world)),
      '',
    );
  }
  return chainTexts(tokens, bindings, world, inner);
}

/** Puts values in the places of a format (`%s`, `{}`), in order. */
function filledIn(formats: readonly string[], values: readonly string[]): readonly string[] {
  let next = 0;
  return formats.map((text) => text.replace(/%[sdr]|\{\w*\}/g, () => values[next++] ?? UNKNOWN));
}

function isPrefix(token: Token): boolean {
  return token.kind === 'name' && /^[rbfuRBFU]{1,2}$/.test(token.text);
}

function listTexts(
  tokens: readonly Token[],
  inner: (part: readonly Token[]) => readonly string[],
): readonly string[] {
  const parts = splitAt(tokens.slice(1, -1), (token) => isMark(token, ','));
  return parts
    .filter((part) => part.length > 0)
    .flatMap(inner)
    .slice(0, MAX_TEXTS);
}

function product(parts: readonly (readonly string[])[], between: string): readonly string[] {
  let texts: string[] | undefined;
  for (const part of parts) {
    const before: readonly string[] | undefined = texts;
    if (before === undefined) texts = [...part];
    else
      texts = part.flatMap((text) => before.map((head) => joined(head, text, between))).slice(0, MAX_TEXTS);
  }
  return texts ?? [''];
}

function joined(head: string, text: string, between: string): string {
  if (between === '/' && text.startsWith('/')) return text;
  return head.length + text.length > MAX_LENGTH ? UNKNOWN : head + between + text;
}

/** Fills `$x`, `${x}`, `#{x}` and `{x}` of a string with what the variables may hold. */
function interpolated(token: Token, bindings: Bindings, world: Surroundings): readonly string[] {
  if (!token.interpolates) return [token.text];
  const pattern =
    /\$\{?\s*(?:ENV\{['"]?(\w+)['"]?\}|process\.env\.(\w+)|(\w+))\s*\}?|#\{\s*(\w+)\s*\}|\{\s*(\w+)\s*\}/g;
  let texts: readonly string[] = [''];
  let last = 0;
  for (const found of token.text.matchAll(pattern)) {
    const name = found[3] ?? found[4] ?? found[5] ?? '';
    const environment = found[1] ?? found[2];
    const values = environment === undefined ? bound(name, bindings) : [world.variable(environment)];
    texts = product([texts, [token.text.slice(last, found.index)], values], '');
    last = found.index + found[0].length;
  }
  return product([texts, [token.text.slice(last)]], '');
}

function bound(name: string, bindings: Bindings): readonly string[] {
  return bindings.get(name.replace(/^[$@%]/, '')) ?? [UNKNOWN];
}

/** A name with its calls, members and subscripts: `os.path.join(a, b)`, `process.env.HOME`, `sys.argv[1]`. */
function chainTexts(
  tokens: readonly Token[],
  bindings: Bindings,
  world: Surroundings,
  inner: (part: readonly Token[]) => readonly string[],
): readonly string[] {
  let value: readonly string[] | undefined;
  let name = '';
  for (let i = 0; i < tokens.length;) {
    const token = tokens[i];
    if (token === undefined) break;
    if (token.kind === 'string') {
      value = interpolated(token, bindings, world);
      // Perl's `glob "x"` without parentheses.
      if (GLOBS.has(name)) value = value.flatMap((text) => world.glob(text));
    } else if (token.kind === 'number') value = [token.text];
    else if (token.kind === 'name') {
      const previous = name;
      name = token.text.replace(/^[$@%]/, '');
      if (previous === 'env') value = [world.variable(name)];
      else if (HOMES.has(name)) value = [world.home];
      else if (FOLDERS.has(name)) value = [world.cwd];
      else if (/^(?:argv|ARGV|shift)$/.test(name) && value === undefined) value = world.argv;
      else if (bindings.has(name) && !isMark(tokens[i - 1], '.')) value = bindings.get(name);
    } else if (isMark(token, '(') || isMark(token, '[') || isMark(token, '{')) {
      const end = closing(tokens, i);
      const args = splitAt(tokens.slice(i + 1, end - 1), (each) => isMark(each, ',')).filter(
        (each) => each.length > 0,
      );
      const [key] = args[0] ?? [];
      const isBare = token.text === '{' && args.length === 1 && args[0]?.length === 1 && key?.kind === 'name';
      value = appliedTo(name, value, isBare ? [[key.text]] : args.map(inner), token.text, world);
      i = end;
      continue;
    } else if (!isMark(token, '.')) return [UNKNOWN];
    i++;
  }
  return value ?? [UNKNOWN];
}

function appliedTo(
  name: string,
  receiver: readonly string[] | undefined,
  args: readonly (readonly string[])[],
  bracket: string,
  world: Surroundings,
): readonly string[] {
  const [first = []] = args;
  if (/^(?:environ|ENV|_ENV|getenv|env|_SERVER)$/.test(name) || (name === 'get' && receiver === undefined)) {
    return first.map((text) => world.variable(text));
  }
  if (/^(?:argv|ARGV)$/.test(name)) return first.map((text) => argument(name, Number(text), world));
  if (HOMES.has(name) || FOLDERS.has(name)) return receiver ?? [UNKNOWN];
  if (GLOBS.has(name) || (name === 'Dir' && bracket === '[')) {
    return product([receiver ?? [''], first], receiver === undefined ? '' : '/').flatMap((text) =>
      world.glob(text),
    );
  }
  if (NAME_LISTS.has(name) || PATH_LISTS.has(name)) {
    const folders = first.length > 0 ? first : (receiver ?? []);
    return folders.flatMap((folder) =>
      world.entries(folder).map((entry) => (NAME_LISTS.has(name) ? entry : `${folder}/${entry}`)),
    );
  }
  if (JOINS.has(name) && args.length > 0)
    return product(receiver === undefined ? args : [receiver, ...args], '/');
  if (name === 'format' && receiver !== undefined) return filledIn(receiver, args.flat());
  if (SAME.has(name)) {
    const texts = args.length > 0 && receiver === undefined ? product(args, '/') : (receiver ?? [UNKNOWN]);
    return texts.map((text) => text.replace(/^~(?=\/|$)/, () => world.home));
  }
  return bracket === '[' && receiver !== undefined ? receiver : [UNKNOWN];
}

/** The n-th argument of the program; Python, Node and PHP count the program itself. */
function argument(name: string, n: number, world: Surroundings): string {
  const isCounted = name === 'argv' && world.language !== 'ruby';
  return world.argv[isCounted ? n - 1 : n] ?? UNKNOWN;
}
