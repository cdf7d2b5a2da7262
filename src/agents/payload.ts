import type { Replacement } from '../domain/marker.ts';
import type { ToolCall } from './dialect.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Returns a copy of an object, without a prototype, so that only own fields are read; `undefined` for any other value. */
export function fields(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null) as object, value) as Fields;
}

/** The value if it is a text. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The first of these fields that is a text: client versions name some fields differently. */
export function firstText(input: Fields | undefined, keys: readonly string[]): string | undefined {
  return keys.map((key) => text(input?.[key])).find((value) => value !== undefined);
}

/** Returns the value as an object; the value may also be a text with JSON. */
export function fieldsOrJson(value: unknown): Fields | undefined {
  if (typeof value !== 'string') return fields(value);
  try {
    return fields(JSON.parse(value));
  } catch {
    return undefined;
  }
}

export const UNREADABLE: ToolCall = { kind: 'unreadable' };

/** The names of a replacement's fields, which differ between clients, and between versions of one client. */
export const FROM_KEYS = ['old_string', 'old_str', 'oldString', 'oldText', 'old_text'];
export const TO_KEYS = ['new_string', 'new_str', 'newString', 'newText', 'new_text'];
const ALL_KEYS = ['replace_all', 'replaceAll'];

/** An edit of a file, with its replacements if we know the names of their fields. */
export function editCall(path: string, input: Fields): Extract<ToolCall, { kind: 'edit' }> {
  const given = Array.isArray(input['edits']) ? (input['edits'] as readonly unknown[]) : [input];
  const edits = given.flatMap((one): Replacement[] => {
    const to = firstText(fields(one), TO_KEYS);
    const from = firstText(fields(one), FROM_KEYS) ?? '';
    const all = ALL_KEYS.some((key) => fields(one)?.[key] === true);
    return to === undefined ? [] : [{ from, to, all }];
  });
  return edits.length === 0 ? { kind: 'edit', path } : { kind: 'edit', path, edits };
}
