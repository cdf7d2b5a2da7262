/**
 * The part of JSON Schema (draft 2020-12) that schema/output.schema.json uses, as far as tests need
 * it. A keyword that is not known here throws, so that none is passed over.
 */
export type Schema = Readonly<Record<string, unknown>>;

const TEXTS = ['$schema', '$id', 'title', 'description', '$defs'];

/** What is wrong with a value, as `<path>: <keyword>` lines; empty when it fits. */
export function violations(root: Schema, schema: Schema, value: unknown, path = '$'): string[] {
  return check({ root, schema, value, path }).errors;
}

interface Place {
  readonly root: Schema;
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: string;
}

interface Outcome {
  readonly errors: string[];
  /** Properties that some subschema spoke about, for `unevaluatedProperties`. */
  readonly seen: Set<string>;
}

function check(place: Place): Outcome {
  const outcome: Outcome = { errors: [], seen: new Set() };
  for (const [keyword, rule] of Object.entries(place.schema)) {
    if (!TEXTS.includes(keyword) && keyword !== 'unevaluatedProperties') apply(place, keyword, rule, outcome);
  }
  if (place.schema['unevaluatedProperties'] === false) {
    const extra = Object.keys(asObject(place.value)).filter((name) => !outcome.seen.has(name));
    outcome.errors.push(...extra.map((name) => `${place.path}.${name}: unevaluatedProperties`));
  }
  return outcome;
}

function apply(place: Place, keyword: string, rule: unknown, outcome: Outcome): void {
  const { root, value, path, schema } = place;
  const fail = (broken: boolean) => {
    if (broken) outcome.errors.push(`${path}: ${keyword}`);
  };
  const sub = (other: unknown, inner = value, at = path) =>
    check({ root, schema: other as Schema, value: inner, path: at });
  const take = ({ errors, seen }: Outcome) => {
    outcome.errors.push(...errors);
    seen.forEach((name) => outcome.seen.add(name));
  };
  switch (keyword) {
    case '$ref':
      take(sub(resolve(root, String(rule))));
      break;
    case 'allOf':
      (rule as unknown[]).forEach((one) => take(sub(one)));
      break;
    case 'anyOf':
    case 'oneOf': {
      const fitting = (rule as unknown[]).map((one) => sub(one)).filter(({ errors }) => errors.length === 0);
      fail(keyword === 'oneOf' ? fitting.length !== 1 : fitting.length === 0);
      fitting.forEach(take);
      break;
    }
    case 'type':
      fail(![rule].flat().includes(typeName(value)));
      break;
    case 'const':
      fail(value !== rule);
      break;
    case 'enum':
      fail(!(rule as unknown[]).includes(value));
      break;
    case 'pattern':
      fail(typeof value === 'string' && !new RegExp(String(rule), 'u').test(value));
      break;
    case 'minLength':
      fail(typeof value === 'string' && Array.from(value).length < Number(rule));
      break;
    case 'maxLength':
      fail(typeof value === 'string' && Array.from(value).length > Number(rule));
      break;
    case 'maxItems':
      fail(Array.isArray(value) && value.length > Number(rule));
      break;
    case 'required':
      fail((rule as string[]).some((name) => !(name in asObject(value))));
      break;
    case 'properties':
      for (const [name, one] of Object.entries(rule as Schema)) {
        if (!(name in asObject(value))) continue;
        outcome.seen.add(name);
        outcome.errors.push(...sub(one, asObject(value)[name], `${path}.${name}`).errors);
      }
      break;
    case 'additionalProperties':
      fail(Object.keys(asObject(value)).some((name) => !(name in (schema['properties'] as Schema))));
      break;
    case 'items':
      if (!Array.isArray(value)) break;
      value.forEach((one, at) => take({ ...sub(rule, one, `${path}[${at}]`), seen: new Set() }));
      break;
    default:
      throw new Error(`${path}: the keyword ${keyword} is not known here`);
  }
}

function resolve(root: Schema, reference: string): unknown {
  const [, name] = /^#\/\$defs\/(\w+)$/.exec(reference) ?? [];
  const found = asObject(root['$defs'])[name ?? ''];
  if (found === undefined) throw new Error(`${reference} leads nowhere`);
  return found;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
