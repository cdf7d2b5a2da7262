import canonicalize from 'canonicalize';
import type { FrontMatter } from './front-matter.ts';

/** What Python calls white space in a text: the format's first implementation drops it before the body. */
const LEADING =
  // eslint-disable-next-line no-control-regex -- four of them count as white space there
  /^[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** The RFC 8785 form of a JSON value. */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? '';
}

/** The text that a note's id is taken of: exactly these eight fields, `handoff_id` itself not among them. */
export function canonicalNote(fields: FrontMatter, body: string): string {
  const { from, to, topic, references, tags, schemaVersion: schema_version, tsUtc: ts_utc } = fields;
  return canonicalJson({ schema_version, from, to, topic, ts_utc, references, tags, body: idBody(body) });
}

/** Line ends of other systems, and white space before the text, make no other note. */
function idBody(body: string): string {
  return body.replace(/\r\n?/g, '\n').replace(LEADING, '');
}

/** The id of a structured note, by its content. `sha256` returns hex; it is handed in. */
export function handoffId(fields: FrontMatter, body: string, sha256: (text: string) => string): string {
  return `sha256:${sha256(canonicalNote(fields, body))}`;
}
