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
  /** Whether to read only the object's type and size, because nobody needs its bytes. */
  readonly infoOnly?: boolean;
}

/**
 * Reads objects in order; missing and damaged ones are `undefined`. One process; more only when an object is damaged,
 * because that ends git's batch, and each half is then read by itself.
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
  // After `flush` git answers at once; it sees the end of its input only when Node is done with other work.
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

/** Shared by all objects whose content is not read: there may be thousands. */
const NOTHING = Buffer.alloc(0);

/** Parses `<oid> <type> <size>`; `undefined` for git's answer about a missing object. */
function parseHeader(line: string): ReadObject | undefined {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  const oid = parseOid(line.slice(0, Math.max(first, 0)));
  const size = line.slice(second + 1);
  if (oid === undefined || second < 0 || !/^\d+$/.test(size)) return undefined;
  return { oid, type: line.slice(first + 1, second), size: Number(size), content: NOTHING };
}

/** Whether git's message says that objects are missing or damaged, and not that the system refused to read them. */
export function isDamage(stderr: string): boolean {
  if (/Permission denied|Input\/output error|Too many open files|Cannot allocate memory/i.test(stderr))
    return false;
  return /missing|could not (parse|read)|bad (object|revision)|unable to (read|unpack|stream)|corrupt|inflate|cannot read/i.test(
    stderr,
  );
}

/** Parses a tree's `<mode> <name>NUL<binary oid>` entries into object names by file name. */
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
