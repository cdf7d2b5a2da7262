/** Readers of JSON that somebody else wrote: each says what it expects, and survives anything else. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The value as an object, or an empty one. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** The value as a list, or an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a string, or the empty one. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text in a message's content, which every dialect writes as a string, a part, or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(textOf).join('\n');
  const part = objectOf(content);
  return typeof part['text'] === 'string' ? part['text'] : textOf(part['content'] ?? []);
}

/** The smallest value that a JSON Schema accepts: the answer to a client's side request for JSON. */
export function smallestValue(schema: unknown): Json {
  const { enum: choices, type, required, properties } = objectOf(schema);
  if (Array.isArray(choices)) return (choices[0] ?? null) as Json;
  const name = stringOf(Array.isArray(type) ? type[0] : type).toLowerCase();
  if (name === 'string') return 'ok';
  if (name === 'boolean') return false;
  if (name === 'number' || name === 'integer') return 0;
  if (name === 'array') return [];
  const fields = objectOf(properties);
  const keys = Array.isArray(required) ? required.map(String) : Object.keys(fields);
  return Object.fromEntries(keys.map((key) => [key, smallestValue(fields[key] ?? { type: 'string' })]));
}
