import { type Oid, parseOid } from '../domain/names.ts';
import type { TreeEntry } from './object-batch.ts';
import { utf8 } from './output.ts';

/** Reads the raw bytes of a tree object: `<mode> <name>NUL<binary oid>` entries. */
function treeEntries(content: Buffer, format: 'sha1' | 'sha256'): Required<TreeEntry>[] {
  const width = format === 'sha1' ? 20 : 32;
  const entries: Required<TreeEntry>[] = [];
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const oid = parseOid(content.toString('hex', end + 1, end + 1 + width));
    const mode = content.toString('latin1', at, space);
    if (oid !== undefined) entries.push({ name: content.toString('latin1', space + 1, end), oid, mode });
    at = end + 1 + width;
  }
  return entries;
}

/** The objects that a tree names, by their names in it. */
export function parseTree(content: Buffer, format: 'sha1' | 'sha256'): ReadonlyMap<string, Oid> {
  return new Map(treeEntries(content, format).map(({ name, oid }) => [utf8(name), oid]));
}
