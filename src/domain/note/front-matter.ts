import { Lexer, isMap, isScalar, parseDocument } from 'yaml';
import { escapeLine } from '../messages.ts';

/** The front matter of a structured note, with the keys of schema/handoff-front-matter.schema.json. */
export interface FrontMatter {
  readonly schema_version: string;
  /** As the note states it; checked elsewhere. */
  readonly handoff_id?: string | undefined;
  readonly from: string;
  readonly to: string;
  /** As the author wrote it; the ref's topic is its slug. */
  readonly topic: string;
  readonly ts_utc: string;
  readonly references: readonly string[];
  readonly tags: readonly string[];
}

type FrontMatterResult =
  /** It is no mapping, or belongs to another tool: we do not judge it. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'invalid'; readonly problem: FrontMatterProblem }
  | { readonly kind: 'structured'; readonly fields: FrontMatter };

/** A mapping with any of these keys is ours. */
const OUR_KEYS: readonly string[] = ['schema_version', 'handoff_id', 'from', 'to'];

/** Reads front matter (the `yaml` of `splitNote`): ours if it is a mapping with a key of ours. `now`: ms since the epoch. */
export function readFrontMatter(yaml: string, now: number): FrontMatterResult {
  const parsed = parseYaml(yaml);
  if (parsed.kind === 'invalid') {
    if (!parsed.keys.some((key) => OUR_KEYS.includes(key))) return { kind: 'foreign' };
    const message = `the front matter is not valid: ${escapeLine(parsed.message)}`;
    return { kind: 'invalid', problem: { message, hint: PLAIN_HINT } };
  }
  const { value } = parsed;
  if (!isMapping(value) || !OUR_KEYS.some((key) => Object.hasOwn(value, key))) return { kind: 'foreign' };
  const problem = checkFrontMatter(value, now);
  if (problem !== undefined) return { kind: 'invalid', problem };
  return { kind: 'structured', fields: { references: [], tags: [], ...value } as unknown as FrontMatter };
}

const PLAIN_HINT = "plain lines like to: 'bob', each key once, without tabs, anchors and tags";

type Mapping = Readonly<Partial<Record<string, unknown>>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * YAML as front matter has it: one document, plain data. `parseYaml` refuses anchors, aliases and tags before it builds
 * anything from them, so that nothing expands and no custom type appears. It counts tokens first, and refuses a text that is
 * nested deeply or has very many parts, because the parser recurses.
 */
type YamlResult =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `keys`: those of the top level, as far as they could be read. */
  | { readonly kind: 'invalid'; readonly message: string; readonly keys: readonly string[] };

const MAX_DEPTH = 16;
/** Front matter at every limit of the schema has about 3,000 tokens. */
const MAX_TOKENS = 20_000;
const MAX_INDENT = 200;

const KEY_LINE = /^(?:(["'])([A-Za-z_][\w-]*)\1|([A-Za-z_][\w-]*))[ \t]*:(?=[ \t\r\n]|$)/gm;

function parseYaml(text: string): YamlResult {
  const refused = refusedToken(text);
  if (refused !== undefined) return { kind: 'invalid', message: refused, keys: keyLines(text) };
  const document = parseDocument(text, {
    schema: 'core',
    version: '1.2',
    merge: false,
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
    // With 'silent' the parser would ignore a second document.
    logLevel: 'error',
  });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem === undefined) return { kind: 'value', value: document.toJS({ maxAliasCount: 0 }) as unknown };
  const items = isMap(document.contents) ? document.contents.items : [];
  const keys = items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
  const line = 1 + text.slice(0, problem.pos[0]).split('\n').length;
  const message = `${problem.message.split('\n', 1)[0] ?? ''} (line ${line} of the note)`;
  return { kind: 'invalid', message, keys: [...keys, ...keyLines(text)] };
}

/** Returns the keys that begin a line, for a text that is not valid YAML. */
function keyLines(text: string): string[] {
  return [...text.matchAll(KEY_LINE)].map(([, , quoted, plain]) => quoted ?? plain ?? '');
}

/** The token that the lexer yields before an unquoted scalar. */
const SCALAR = '\u001f';

/** Returns why a text must not even be parsed; `undefined`: it may be. */
function refusedToken(text: string): string | undefined {
  let [tokens, flow, nested] = [0, 0, 0];
  let before = '';
  for (const token of new Lexer().lex(text)) {
    const first = before === SCALAR ? '' : (token[0] ?? '');
    before = token;
    if (++tokens > MAX_TOKENS) return 'it has too many parts';
    if (first === '&' || first === '*') return 'anchors and aliases (& and *) are not allowed';
    if (first === '!') return 'tags (!) are not allowed';
    if (first === '[' || first === '{') flow++;
    if (first === ']' || first === '}') flow--;
    if (first === '\n' || first === '\r') nested = 0;
    if (flow === 0 && (token === '-' || token === '?' || token === ':')) nested++;
    const indented = (first === ' ' || first === '\t') && token.length > MAX_INDENT;
    if (flow > MAX_DEPTH || nested > MAX_DEPTH || indented) return 'it is nested too deeply';
  }
  return undefined;
}

/** Formats front matter, with its `---` lines, like the format's first implementation: keys in this order, single quotes. */
export function formatFrontMatter(fields: FrontMatter): string {
  const lines = KEYS.flatMap((key) => {
    const value = fields[key];
    if (value === undefined) return [];
    if (typeof value === 'string') return `${key}: ${quoted(value)}`;
    return value.length === 0 ? `${key}: []` : [`${key}:`, ...value.map((item) => `  - ${quoted(item)}`)];
  });
  return `---\n${lines.join('\n')}\n---\n`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** A problem of front matter: what is wrong, and a line that would be right. */
export interface FrontMatterProblem {
  readonly message: string;
  readonly hint: string;
}

export const SCHEMA_VERSION = '1.0';

interface Rule {
  readonly isOptional?: true;
  /** How many texts a list may have; left out: the key has one text. */
  readonly most?: number;
  readonly pattern: RegExp;
  readonly wanted: string;
  /** Left out: git-handoff computes the value. */
  readonly example?: string;
}

const OPERATOR = { pattern: /^[A-Za-z0-9_-]{1,64}$/, wanted: '1 to 64 of A-Z a-z 0-9 _ -' };

/** All keys, in the order in which they are written. */
const RULES: Readonly<Record<keyof FrontMatter, Rule>> = {
  schema_version: { pattern: /^1\.0$/, wanted: 'the text 1.0, quoted', example: "'1.0'" },
  handoff_id: { isOptional: true, pattern: /^sha256:[a-f0-9]{64}$/, wanted: 'sha256: and 64 hex digits' },
  from: { ...OPERATOR, example: "'alice'" },
  to: { ...OPERATOR, example: "'bob'" },
  topic: {
    pattern: /^[A-Za-z0-9_-]{1,80}$/,
    wanted: '1 to 80 of A-Z a-z 0-9 _ -',
    example: "'auth-refresh'",
  },
  ts_utc: {
    pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/,
    wanted: 'a time in UTC, from 1970 to tomorrow',
    example: "'2026-05-07T12:00:00Z'",
  },
  references: {
    isOptional: true,
    most: 256,
    // eslint-disable-next-line no-control-regex -- control characters must be refused
    pattern: /^[^\u0000-\u001f\u007f\ud800-\udfff]{1,1024}$/u,
    wanted: 'a list of at most 256 texts of 1 to 1024 characters, without control characters',
    example: "['commit:abc1234']",
  },
  tags: {
    isOptional: true,
    most: 32,
    pattern: /^[A-Za-z0-9_-]{1,40}$/,
    wanted: 'a list of at most 32 words of 1 to 40 of A-Z a-z 0-9 _ -',
    example: "['backend']",
  },
};

const KEYS = Object.keys(RULES) as (keyof FrontMatter)[];
/** How far in the future a note may be dated, because clocks differ between machines. Milliseconds. */
const FUTURE_MS = 24 * 3600e3;

/** Returns the first problem of a mapping that is meant as our front matter; `undefined` if it has none. */
export function checkFrontMatter(value: Mapping, now: number): FrontMatterProblem | undefined {
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(RULES, key));
  if (unknown !== undefined) {
    const message = `front matter has no key ${escapeLine(JSON.stringify(unknown.slice(0, 80)))}`;
    return { message, hint: `only these: ${KEYS.join(', ')}` };
  }
  for (const key of KEYS) {
    const fault = faultOf(key, value[key], now);
    if (fault === undefined) continue;
    const { wanted, example } = RULES[key];
    const message = `front matter: ${key} ${fault}; wanted: ${wanted}`;
    return { message, hint: example ? `${key}: ${example}` : `leave ${key} out, it is computed` };
  }
  return undefined;
}

/** Whether a text that was typed as an option may be an operator's name, a topic, a tag or a reference. */
export function isAllowed(key: 'to' | 'from' | 'topic' | 'tags' | 'references', text: string): boolean {
  return RULES[key].pattern.test(text);
}

/** Says what is wrong with a key's value; `undefined`: nothing. */
function faultOf(key: keyof FrontMatter, value: unknown, now: number): string | undefined {
  const { isOptional, most, pattern } = RULES[key];
  if (value === undefined) return isOptional === true ? undefined : 'is missing';
  const isRight = (one: unknown) => typeof one === 'string' && pattern.test(one);
  if (most === undefined) {
    const isPossible = isRight(value) && (key !== 'ts_utc' || isPossibleTime(value as string, now));
    return isPossible ? undefined : describeValue(value);
  }
  if (!Array.isArray(value)) return describeValue(value);
  if (value.length > most) return `has ${value.length} items`;
  const bad = value.findIndex((item) => !isRight(item));
  return bad < 0 ? undefined : `item ${bad + 1} ${describeValue(value[bad])}`;
}

function isPossibleTime(text: string, now: number): boolean {
  const seconds = text.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  const time = Date.parse(`${seconds}Z`);
  // Date.parse reads 30 February as 2 March.
  const real = !Number.isNaN(time) && new Date(time).toISOString().startsWith(seconds);
  return real && time >= 0 && time <= now + FUTURE_MS;
}

function describeValue(value: unknown): string {
  const shown = escapeLine(JSON.stringify(value)).slice(0, 80);
  if (typeof value === 'string') return `is ${shown}`;
  if (value === null) return 'is empty';
  if (typeof value === 'object') return Array.isArray(value) ? 'is a list' : 'is a mapping';
  return `is a ${typeof value} (${shown}), not quoted`;
}
