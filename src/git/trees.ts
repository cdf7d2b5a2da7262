import { type Oid, parseOid } from '../domain/names.ts';

/** Reads the raw bytes of a tree object: `<mode> <name>NUL<binary oid>` entries. */
export function parseTree(content: Buffer, format: 'sha1' | 'sha256'): ReadonlyMap<string, Oid> {
  const width = format === 'sha1' ? 20 : 32;
  const entries = new Map<string, Oid>();
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const oid = parseOid(content.toString('hex', end + 1, end + 1 + width));
    if (oid !== undefined) entries.set(content.toString('utf8', space + 1, end), oid);
    at = end + 1 + width;
  }
  return entries;
}
