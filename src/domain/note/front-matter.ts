import { escapeLine } from '../surfacing.ts';
import { type FrontMatterProblem, checkFrontMatter } from './front-matter-rules.ts';
import { parseYaml } from './yaml.ts';

/** What the front matter of a structured note says (schema/handoff-front-matter.schema.json). */
export interface FrontMatter {
  readonly schemaVersion: string;
  /** As it stands in the text; whether it is the right one is asked elsewhere. */
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
  /** No mapping, or another tool's: nobody's business. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'invalid'; readonly problem: FrontMatterProblem }
  | { readonly kind: 'structured'; readonly fields: FrontMatter };

/** Any of these makes a mapping ours. */
const OUR_KEYS: readonly string[] = ['schema_version', 'handoff_id', 'from', 'to'];

/**
 * Reads front matter (the `yaml` of `splitNote`). A note is structured when it is a mapping that has a key of ours;
 * everything else passes unjudged. `now` in milliseconds since the epoch: no note comes from the day after tomorrow.
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

/** Of a mapping that was found right. */
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
