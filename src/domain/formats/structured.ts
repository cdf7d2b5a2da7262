import canonicalize from 'canonicalize';
import { parse } from 'yaml';
import { splitNote } from '../note/document.ts';

/** The front matter of a structured handoff, with the id that its content has. */
export interface StructuredHead {
  readonly from: string;
  readonly to: string;
  readonly topic: string;
  readonly suppliedId: string | undefined;
  readonly computedId: string;
}

export type StructuredNote =
  | { readonly kind: 'structured'; readonly head: StructuredHead }
  | { readonly kind: 'invalid'; readonly why: string };

const OPERATOR = /^[A-Za-z0-9_-]{1,64}$/;
/** What Python calls white space: the program that made the ids drops it before the body. */
const LEADING =
  // eslint-disable-next-line no-control-regex -- four of them count as white space there
  /^[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const REQUIRED = ['schema_version', 'from', 'to', 'topic', 'ts_utc'] as const;

/** Whether a text begins with front matter that could be that of a structured handoff. */
export function looksStructured(text: string): boolean {
  const yaml = splitNote(text).yaml ?? '';
  return /^(?:handoff_id|schema_version):/m.test(yaml) && /^topic:/m.test(yaml);
}

/**
 * Reads a structured handoff and computes its `handoff_id`: SHA-256 over the RFC 8785 form of exactly these fields, the
 * body with line feeds only and without leading white space, as the program reads it that made the ids.
 */
export function readStructured(note: string, sha256: (text: string) => string): StructuredNote {
  const { yaml, body } = splitNote(note);
  const invalid = (why: string): StructuredNote => ({ kind: 'invalid', why });
  if (yaml === undefined) return invalid('it has no front matter');
  const fields = readFields(yaml);
  if (fields === undefined) return invalid('its front matter is not a plain YAML mapping');
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined);
  const missing = REQUIRED.find((name) => text(name) === undefined);
  if (missing !== undefined) return invalid(`its front matter has no ${missing}`);
  const [from = '', to = '', topic = ''] = [text('from'), text('to'), text('topic')];
  if (!OPERATOR.test(from) || !OPERATOR.test(to)) return invalid('from and to are not names of operators');
  const [references, tags] = [textList(fields['references']), textList(fields['tags'])];
  if (references === undefined || tags === undefined)
    return invalid('references and tags are not lists of texts');
  const canonical = canonicalize({
    schema_version: text('schema_version'),
    from,
    to,
    topic,
    ts_utc: text('ts_utc'),
    references,
    tags,
    body: body.replace(/\r\n?/g, '\n').replace(LEADING, ''),
  });
  const computedId = `sha256:${sha256(canonical ?? '')}`;
  return { kind: 'structured', head: { from, to, topic, suppliedId: text('handoff_id'), computedId } };
}

/** Every scalar is read as the text that stands there, so that an unquoted date is no date. */
function readFields(yaml: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parse(yaml, { schema: 'failsafe', maxAliasCount: 0, logLevel: 'error' });
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** A list of texts; none at all is an empty one. */
function textList(value: unknown): string[] | undefined {
  if (value === undefined || value === '') return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) return undefined;
  return value;
}
