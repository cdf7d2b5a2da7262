import type { FrontMatter } from './front-matter.ts';

/** Front matter with its `---` lines, as the format's first implementation stores it: this order, single quotes. */
export function formatFrontMatter(fields: FrontMatter): string {
  const lines = [
    line('schema_version', fields.schemaVersion),
    ...(fields.handoffId === undefined ? [] : [line('handoff_id', fields.handoffId)]),
    line('from', fields.from),
    line('to', fields.to),
    line('topic', fields.topic),
    line('ts_utc', fields.tsUtc),
    list('references', fields.references),
    list('tags', fields.tags),
  ];
  return `---\n${lines.join('\n')}\n---\n`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const line = (key: string, text: string) => `${key}: ${quoted(text)}`;

function list(key: string, items: readonly string[]): string {
  return items.length === 0
    ? `${key}: []`
    : [`${key}:`, ...items.map((item) => `  - ${quoted(item)}`)].join('\n');
}
