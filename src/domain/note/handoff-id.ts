import canonicalize from 'canonicalize';
import type { FrontMatter } from './front-matter.ts';

/** White space as Python defines it: the format's first implementation, in Python, drops it before the body. */
const LEADING =
  // eslint-disable-next-line no-control-regex -- in Python, U+001C to U+001F are white space
  /^[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** Returns the RFC 8785 form of a JSON value. */
export function canonicalJson(value: unknown): string {
  return canonicalize(value) ?? '';
}

/** Returns the text whose hash is a note's id: exactly these eight fields, without `handoff_id` itself. */
export function canonicalNote(fields: FrontMatter, body: string): string {
  const { schema_version, from, to, topic, ts_utc, references, tags } = fields;
  return canonicalJson({ schema_version, from, to, topic, ts_utc, references, tags, body: idBody(body) });
}

/** Normalises a body: other line ends, and white space before the text, do not change the id. */
function idBody(body: string): string {
  return body.replace(/\r\n?/g, '\n').replace(LEADING, '');
}

/** Computes the id of a structured note from its content. The caller passes in `sha256`, which returns hex. */
export function handoffId(fields: FrontMatter, body: string, sha256: (text: string) => string): string {
  return `sha256:${sha256(canonicalNote(fields, body))}`;
}
