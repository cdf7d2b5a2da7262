import { escapeLine } from '../surfacing.ts';

/** A problem of front matter: the key, what is wanted, and a line that would be right. */
export interface FrontMatterProblem {
  readonly key: string | undefined;
  readonly message: string;
  readonly hint: string;
}

export const SCHEMA_VERSION = '1.0';

interface Rule {
  readonly required: boolean;
  readonly pattern: RegExp;
  readonly wanted: string;
  readonly example: string;
}

const OPERATOR = { required: true, pattern: /^[A-Za-z0-9_-]{1,64}$/, wanted: '1 to 64 of A-Z a-z 0-9 _ -' };
const SCALARS: Readonly<Record<string, Rule>> = {
  schema_version: { required: true, pattern: /^1\.0$/, wanted: 'the text 1.0, quoted', example: "'1.0'" },
  handoff_id: {
    required: false,
    pattern: /^sha256:[a-f0-9]{64}$/,
    wanted: 'sha256: and 64 hex digits',
    example: '',
  },
  from: { ...OPERATOR, example: "'alice'" },
  to: { ...OPERATOR, example: "'bob'" },
  topic: {
    required: true,
    pattern: /^[A-Za-z0-9_-]{1,80}$/,
    wanted: '1 to 80 of A-Z a-z 0-9 _ -',
    example: "'auth-refresh'",
  },
  ts_utc: {
    required: true,
    pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/,
    wanted: 'a time in UTC, from 1970 to tomorrow',
    example: "'2026-05-07T12:00:00Z'",
  },
};

interface ListRule {
  readonly most: number;
  readonly pattern: RegExp;
  readonly wanted: string;
  readonly example: string;
}

const LISTS: Readonly<Record<string, ListRule>> = {
  references: {
    most: 256,
    // eslint-disable-next-line no-control-regex -- control characters are what must be refused
    pattern: /^[^\u0000-\u001f\u007f\ud800-\udfff]{1,1024}$/u,
    wanted: 'a list of at most 256 texts of 1 to 1024 characters, without control characters',
    example: "['commit:abc1234']",
  },
  tags: {
    most: 32,
    pattern: /^[A-Za-z0-9_-]{1,40}$/,
    wanted: 'a list of at most 32 words of 1 to 40 of A-Z a-z 0-9 _ -',
    example: "['backend']",
  },
};

const KEYS = [...Object.keys(SCALARS), ...Object.keys(LISTS)];
/** Milliseconds; clocks of machines differ, days do not. */
const FUTURE_MS = 24 * 3600e3;

/** Returns the first problem of a mapping that is meant as our front matter; `undefined` if it has none. */
export function checkFrontMatter(
  value: Readonly<Record<string, unknown>>,
  now: number,
): FrontMatterProblem | undefined {
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    const message = `front matter has no key ${escapeLine(JSON.stringify(unknown.slice(0, 80)))}`;
    return { key: unknown, message, hint: `only these: ${KEYS.join(', ')}` };
  }
  for (const [key, rule] of Object.entries(SCALARS)) {
    if (rule.required && !Object.hasOwn(value, key)) return problem(key, rule, 'is missing');
    if (Object.hasOwn(value, key) && !isRight(key, rule, value[key], now)) {
      return problem(key, rule, describeValue(value[key]));
    }
  }
  for (const [key, rule] of Object.entries(LISTS)) {
    const fault = Object.hasOwn(value, key) ? listFault(value[key], rule) : undefined;
    if (fault !== undefined) return problem(key, rule, fault);
  }
  return undefined;
}

/** Whether a text that was typed as an option may be an operator's name, a topic, a tag or a reference. */
export function isAllowed(key: 'to' | 'from' | 'topic' | 'tags' | 'references', text: string): boolean {
  return (SCALARS[key] ?? LISTS[key])?.pattern.test(text) === true;
}

function isRight(key: string, rule: Rule, value: unknown, now: number): boolean {
  if (typeof value !== 'string' || !rule.pattern.test(value)) return false;
  return key !== 'ts_utc' || isPossibleTime(value, now);
}

function isPossibleTime(text: string, now: number): boolean {
  const seconds = text.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  const time = Date.parse(`${seconds}Z`);
  // Date.parse reads 30 February as 2 March.
  const real = !Number.isNaN(time) && new Date(time).toISOString().startsWith(seconds);
  return real && time >= 0 && time <= now + FUTURE_MS;
}

function listFault(value: unknown, rule: ListRule): string | undefined {
  if (!Array.isArray(value)) return describeValue(value);
  if (value.length > rule.most) return `has ${value.length} items`;
  const bad = value.findIndex((item) => typeof item !== 'string' || !rule.pattern.test(item));
  return bad < 0 ? undefined : `item ${bad + 1} ${describeValue(value[bad])}`;
}

function describeValue(value: unknown): string {
  const shown = escapeLine(JSON.stringify(value)).slice(0, 80);
  if (typeof value === 'string') return `is ${shown}`;
  if (value === null) return 'is empty';
  if (typeof value === 'object') return Array.isArray(value) ? 'is a list' : 'is a mapping';
  return `is a ${typeof value} (${shown}), not quoted`;
}

function problem(key: string, rule: Rule | ListRule, fault: string): FrontMatterProblem {
  const message = `front matter, ${key} ${fault}; wanted: ${rule.wanted}`;
  const hint = rule.example === '' ? `leave ${key} out, it is computed` : `${key}: ${rule.example}`;
  return { key, message, hint };
}
