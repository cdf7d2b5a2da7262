import type { SessionStartSource } from './dialect.ts';

/** Reading payloads: every field may be missing or of another type. */

/** A JSON object of unknown fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object with fields, `undefined` for anything else. Own fields only are ever read. */
export function fields(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null) as object, value) as Fields;
}

/** The value as a text, `undefined` for anything else. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The same for a value that may be JSON in a text. */
export function fieldsOrJson(value: unknown): Fields | undefined {
  if (typeof value !== 'string') return fields(value);
  try {
    return fields(JSON.parse(value));
  } catch {
    return undefined;
  }
}

const SOURCES: readonly SessionStartSource[] = ['startup', 'resume', 'clear', 'compact', 'fork'];

/** What began a session, as its client said it. */
export function startSource(value: unknown): SessionStartSource {
  return SOURCES.find((known) => known === value) ?? 'unknown';
}
