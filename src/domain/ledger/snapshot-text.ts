import { jsonFields, parseFileState } from '../journal/events.ts';
import { parseOid } from '../names.ts';
import type { DirtyPath, TreeStatus } from './tree-status.ts';

/** Writes a tree status as JSON, and reads it back. */

export function formatTreeStatus({ head, dirty, at }: TreeStatus): string {
  return JSON.stringify({ v: 1, at, head, dirty: [...dirty.values()] });
}

/** Reads a tree status; `undefined` for any other text. */
export function parseTreeStatus(text: string): TreeStatus | undefined {
  const value = jsonFields<'v' | 'at' | 'head' | 'dirty'>(text);
  if (value.v !== 1 || typeof value.at !== 'number' || !Array.isArray(value.dirty)) return undefined;
  const { ref, oid } = (value.head ?? {}) as { ref?: unknown; oid?: unknown };
  const dirty = value.dirty.flatMap((item: unknown) => dirtyPath(item) ?? []);
  return {
    at: value.at,
    head: {
      ref: typeof ref === 'string' ? ref : 'HEAD',
      oid: typeof oid === 'string' ? (parseOid(oid) ?? null) : null,
    },
    dirty: new Map(dirty.map((entry) => [entry.path, entry])),
  };
}

function dirtyPath(item: unknown): DirtyPath | undefined {
  const { path, stamp, head, index, disk } = (item ?? {}) as Record<string, unknown>;
  if (typeof path !== 'string') return undefined;
  return {
    path,
    head: parseFileState(head),
    index: parseFileState(index),
    disk: parseFileState(disk),
    stamp: typeof stamp === 'string' ? stamp : '',
  };
}
