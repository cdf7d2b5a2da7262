import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';

/** A JSON Schema (draft 2020-12) of `schema/`. */
export type Schema = AnySchemaObject & { readonly $id: string };

const readers = new WeakMap<Schema, Ajv2020>();

/** The errors of a value by a schema, or by one of its `$defs`; empty when the value is valid. */
export function violations(schema: Schema, value: unknown, definition?: string): string[] {
  const reader = readers.get(schema) ?? new Ajv2020({ allErrors: true, strictTypes: false });
  if (!readers.has(schema)) reader.addSchema(schema);
  readers.set(schema, reader);
  const place = definition === undefined ? '' : `#/$defs/${definition}`;
  const validate = reader.getSchema(`${schema.$id}${place}`);
  if (validate === undefined) throw new Error(`${place} leads nowhere`);
  return validate(value) === true ? [] : reader.errorsText(validate.errors, { separator: '\n' }).split('\n');
}
