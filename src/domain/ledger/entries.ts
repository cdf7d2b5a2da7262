import { jsonFields } from '../json-fields.ts';
import { parseOid, parseSessionId } from '../names.ts';
import type { LedgerEntry } from './claims.ts';
import { EVIDENCE, type FileState, WISHES } from './file-state.ts';

/** Entries as the lines of a ledger file, and back. What cannot be read is skipped: a torn line, a later version's. */
export function formatEntries(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

/** The entries of a ledger file. */
export function parseEntries(text: string): LedgerEntry[] {
  return text.split('\n').flatMap((line) => {
    const entry = line === '' ? undefined : parseEntry(line);
    return entry === undefined ? [] : [entry];
  });
}

type Fields = Readonly<Record<string, unknown>>;

function parseEntry(line: string): LedgerEntry | undefined {
  const value: Fields = jsonFields(line);
  const { t, at } = value;
  if (typeof at !== 'number') return undefined;
  switch (t) {
    case 'claim':
      return parseClaim(value, at);
    case 'end':
      return parseEnd(value, at);
    case 'commit':
      return { t, parent: oidOf(value['parent']), paths: pathStates(value['paths']), at };
    case 'staged': {
      const path = pathOf(value['path']);
      const head = 'head' in value ? { head: parseFileState(value['head']) } : {};
      return path === undefined ? undefined : { t, path, state: parseFileState(value['state']), ...head, at };
    }
    case 'head': {
      const { ref, oid, own } = value;
      return typeof ref === 'string' ? { t, ref, oid: oidOf(oid), own: own === true, at } : undefined;
    }
    case 'event': {
      const { id, text, to } = value;
      if (typeof id !== 'string' || typeof text !== 'string') return undefined;
      const reader = parseSessionId(to);
      return { t, id, text, at, ...(reader === undefined ? {} : { to: reader }) };
    }
    case 'window': {
      const { id, from, goesOn } = value;
      if (typeof id !== 'string' || typeof from !== 'number') return undefined;
      return { t, id, from, at, ...(goesOn === true ? { goesOn } : {}) };
    }
    case 'announced':
      return { t, paths: strings(value['paths']) ?? [], ...agentOf(value), at };
    case 'answered': {
      const paths = strings(value['paths']);
      return { t, ...(paths === undefined ? {} : { paths }), ...agentOf(value), at };
    }
    case 'revived': {
      const path = pathOf(value['path']);
      return path === undefined ? undefined : { t, path, at };
    }
    case 'request': {
      const to = parseSessionId(value['to']);
      const wish = WISHES.find((one) => one === value['wish']);
      const paths = strings(value['paths']) ?? [];
      return to === undefined || wish === undefined ? undefined : { t, to, wish, paths, at };
    }
    case 'told': {
      const ids = strings(value['ids']) ?? [];
      return { t, ids, at };
    }
    default:
      return undefined;
  }
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}

function agentOf({ agent }: Fields): { agent?: string } {
  return typeof agent === 'string' ? { agent } : {};
}

function parseClaim(value: Fields, at: number): LedgerEntry | undefined {
  const path = pathOf(value['path']);
  const evidence = EVIDENCE.find((one) => one === value['evidence']);
  if (path === undefined || evidence === undefined) return undefined;
  const [base, before, after] = [value['base'], value['before'], value['after']].map(parseFileState);
  const { began } = value;
  return {
    t: 'claim',
    path,
    base: base ?? null,
    before: before ?? null,
    after: after ?? null,
    evidence,
    weak: value['weak'] === true,
    ...agentOf(value),
    ...(typeof began === 'number' ? { began } : {}),
    at,
  };
}

function parseEnd(value: Fields, at: number): LedgerEntry | undefined {
  const path = pathOf(value['path']);
  const { why } = value;
  if (path === undefined || (why !== 'clean' && why !== 'committed' && why !== 'taken')) return undefined;
  const by = parseSessionId(value['by']);
  return { t: 'end', path, why, at, ...(by === undefined ? {} : { by }) };
}

/** Reads a state; anything odd is "nothing there". */
export function parseFileState(value: unknown): FileState {
  if (typeof value !== 'object' || value === null) return null;
  const { mode, oid } = value as Fields;
  return typeof mode === 'string' && /^[0-7]{6}$/.test(mode) ? { mode, oid: oidOf(oid) } : null;
}

function pathStates(value: unknown): (readonly [string, FileState])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const [path, state] = Array.isArray(item) ? (item as unknown[]) : [];
    return typeof path === 'string' ? [[path, parseFileState(state)] as const] : [];
  });
}

function oidOf(value: unknown) {
  return typeof value === 'string' ? (parseOid(value) ?? null) : null;
}

function pathOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
}
