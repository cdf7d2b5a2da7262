import { Lexer, isMap, isScalar, parseDocument } from 'yaml';
import { escapeLine } from '../surfacing.ts';
import { type FrontMatterProblem, checkFrontMatter } from './front-matter-rules.ts';

/** What the front matter of a structured note says (schema/handoff-front-matter.schema.json). */
export interface FrontMatter {
  readonly schemaVersion: string;
  /** The id that the note states; whether it is the right one is checked elsewhere. */
  readonly handoffId: string | undefined;
  readonly from: string;
  readonly to: string;
  /** As the author wrote it; the ref's topic is its slug. */
  readonly topic: string;
  readonly tsUtc: string;
  readonly references: readonly string[];
  readonly tags: readonly string[];
}

type FrontMatterResult =
  /** Not a mapping, or another tool's: it passes unjudged. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'invalid'; readonly problem: FrontMatterProblem }
  | { readonly kind: 'structured'; readonly fields: FrontMatter };

/** Any of these makes a mapping ours. */
const OUR_KEYS: readonly string[] = ['schema_version', 'handoff_id', 'from', 'to'];

/**
 * Reads front matter (the `yaml` of `splitNote`). A note is structured if this is a mapping that has a key of ours;
 * everything else passes unjudged. `now` in milliseconds since the epoch: no note may come from the day after tomorrow.
 */
export function readFrontMatter(yaml: string, now: number): FrontMatterResult {
  const parsed = parseYaml(yaml);
  if (parsed.kind === 'invalid') {
    if (!parsed.keys.some((key) => OUR_KEYS.includes(key))) return { kind: 'foreign' };
    const message = `the front matter is not valid: ${escapeLine(parsed.message)}`;
    return { kind: 'invalid', problem: { key: undefined, message, hint: PLAIN_HINT } };
  }
  const { value } = parsed;
  if (!isMapping(value) || !OUR_KEYS.some((key) => Object.hasOwn(value, key))) return { kind: 'foreign' };
  const problem = checkFrontMatter(value, now);
  if (problem !== undefined) return { kind: 'invalid', problem };
  return { kind: 'structured', fields: fieldsOf(value) };
}

const PLAIN_HINT = "plain lines like to: 'bob', each key once, without tabs, anchors and tags";

type Mapping = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the fields of a mapping that was found right. */
function fieldsOf(value: Mapping): FrontMatter {
  const text = (key: string) => value[key] as string;
  const list = (key: string) => (value[key] ?? []) as readonly string[];
  return {
    schemaVersion: text('schema_version'),
    handoffId: value['handoff_id'] as string | undefined,
    from: text('from'),
    to: text('to'),
    topic: text('topic'),
    tsUtc: text('ts_utc'),
    references: list('references'),
    tags: list('tags'),
  };
}

/**
 * YAML as front matter has it: one document, plain data. The only place that knows the library. Anchors, aliases and
 * tags are refused before anything is built from them, so that nothing expands and no type is made up. Text that is
 * nested deeply or has very many parts is refused by counting its tokens, because the parser recurses.
 */
type YamlResult =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `keys`: those of the top level, as far as they could be read. */
  | { readonly kind: 'invalid'; readonly message: string; readonly keys: readonly string[] };

const MAX_DEPTH = 16;
/** Front matter at every limit of the schema has about 3,000. */
const MAX_TOKENS = 20_000;
const MAX_INDENT = 200;

const KEY_LINE = /^(?:(["'])([A-Za-z_][\w-]*)\1|([A-Za-z_][\w-]*))[ \t]*:(?=[ \t\r\n]|$)/gm;

/** Reads front matter as YAML, once its tokens are counted. */
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
    // With 'silent' the parser would pass over a second document.
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

/** The lexer's token before an unquoted scalar, which is the next token. */
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

/** Formats front matter, with its `---` lines, as the format's first implementation does: this order, single quotes. */
export function formatFrontMatter(fields: FrontMatter): string {
  const lines = [
    line('schema_version', fields.schemaVersion),
    ...(fields.handoffId === undefined ? [] : [line('handoff_id', fields.handoffId)]),
    line('from', fields.from),
    line('to', fields.to),
    line('topic', fields.topic),
    line('ts_utc', fields.tsUtc),
    list('references', fields.references),
    list('tags', fields.tags),
  ];
  return `---\n${lines.join('\n')}\n---\n`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const line = (key: string, text: string) => `${key}: ${quoted(text)}`;

function list(key: string, items: readonly string[]): string {
  return items.length === 0
    ? `${key}: []`
    : [`${key}:`, ...items.map((item) => `  - ${quoted(item)}`)].join('\n');
}
