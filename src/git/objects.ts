import { type Oid, parseOid } from '../domain/names.ts';
import { type GitOptions, gitFailure, runGit } from './run.ts';

/** One answer of git-cat-file(1); `content` is empty when only the existence was asked for. */
export interface ReadObject {
  readonly oid: Oid;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  readonly content: Buffer;
}

/** An object to read, by name or as `<oid>:<path>`. */
export interface ObjectRequest {
  readonly name: string;
  /** Only whether it exists and its type, for objects whose bytes nobody needs. */
  readonly infoOnly?: boolean;
}

/**
 * Reads objects in order; missing and damaged ones are `undefined`. One process, more only when an
 * object is damaged: that ends git's batch, so the halves are read by themselves.
 */
export async function readObjects(
  options: GitOptions,
  requests: readonly ObjectRequest[],
): Promise<(ReadObject | undefined)[]> {
  if (requests.length === 0) return [];
  const lines = requests.map(({ name, infoOnly }) => {
    if (/[\n\0]/.test(name)) throw new TypeError('an object name holds no line feed');
    return `${infoOnly === true ? 'info' : 'contents'} ${name}`;
  });
  // It answers at once then: the end of its input comes when Node has done what else it is about.
  const input = `${lines.join('\n')}\nflush\n`;
  const result = await runGit(['cat-file', '--buffer', '--batch-command'], { ...options, input });
  if (result.code !== 0) {
    if (!isDamage(result.stderr)) throw gitFailure('cat-file', result);
    if (requests.length === 1) return [undefined];
    const half = Math.ceil(requests.length / 2);
    const first = await readObjects(options, requests.slice(0, half));
    return [...first, ...(await readObjects(options, requests.slice(half)))];
  }
  let at = 0;
  return requests.map(({ infoOnly }) => {
    const lineEnd = result.stdout.indexOf(10, at);
    const header = parseHeader(result.stdout.toString('latin1', at, lineEnd));
    at = lineEnd + 1;
    if (header === undefined || infoOnly === true) return header;
    const content = result.stdout.subarray(at, at + header.size);
    at += header.size + 1;
    return { ...header, content };
  });
}

/** Of thousands that are only looked at none needs a buffer of its own. */
const NOTHING = Buffer.alloc(0);

/** `<oid> <type> <size>`; `undefined` for what git says of an object that is not there. */
function parseHeader(line: string): ReadObject | undefined {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  const oid = parseOid(line.slice(0, Math.max(first, 0)));
  const size = line.slice(second + 1);
  if (oid === undefined || second < 0 || !/^\d+$/.test(size)) return undefined;
  return { oid, type: line.slice(first + 1, second), size: Number(size), content: NOTHING };
}

/** Whether git's message is about objects that are gone or damaged, and not about reading being refused. */
export function isDamage(stderr: string): boolean {
  if (/Permission denied|Input\/output error|Too many open files|Cannot allocate memory/i.test(stderr))
    return false;
  return /missing|could not (parse|read)|bad (object|revision)|unable to (read|unpack|stream)|corrupt|inflate|cannot read/i.test(
    stderr,
  );
}

/** The objects that a tree names, by their names in it: `<mode> <name>NUL<binary oid>` entries. */
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
