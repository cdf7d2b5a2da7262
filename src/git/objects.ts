import { type Oid, parseOid } from '../domain/names.ts';
import { type GitOptions, gitFailure, runGit, type BinaryText, type GitResult } from './run.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hash, objectName } from './hash.ts';
import type { Repository } from './repository.ts';

/** One answer of git-cat-file(1); `content` is empty when only type and size were asked for. */
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
  /** If the object has more bytes, only its type and size are read, and its content is empty. */
  readonly mostBytes?: number;
}

/**
 * Reads objects in order; missing and damaged ones are `undefined`. A name alone asks for the whole object. One process is
 * enough, except in two cases. A damaged object ends git's batch: then we read each half of the objects by itself. If requests
 * with `mostBytes` make git print more than `MOST_PRINTED`, we ask for sizes first.
 */
export async function readObjects(
  options: GitOptions,
  wanted: readonly (ObjectRequest | string)[],
): Promise<(ReadObject | undefined)[]> {
  const requests = wanted.map((one): ObjectRequest => (typeof one === 'string' ? { name: one } : one));
  const isBounded = requests.some(({ mostBytes }) => mostBytes !== undefined);
  const read = await readAll(isBounded ? { ...options, mostPrinted: MOST_PRINTED } : options, requests);
  return read ?? readSmall(options, requests);
}

/** Asks only for the types and sizes of objects. */
export function lookUpObjects(
  options: GitOptions,
  names: readonly string[],
): Promise<(ReadObject | undefined)[]> {
  const requests = names.map((name) => ({ name, infoOnly: true }));
  return readObjects(options, requests);
}

/** How many bytes git may print before we ask for sizes first. */
const MOST_PRINTED = 32 << 20;

async function readSmall(
  options: GitOptions,
  requests: readonly ObjectRequest[],
): Promise<(ReadObject | undefined)[]> {
  const names = requests.map(({ name }) => name);
  const infos = await lookUpObjects(options, names);
  const isSmall = ({ infoOnly, mostBytes = Infinity }: ObjectRequest, at: number) =>
    infoOnly !== true && (infos[at]?.size ?? Infinity) <= mostBytes;
  const small = requests.filter(isSmall).map(({ name }) => name);
  const read = (await readObjects(options, small)).values();
  return requests.map((request, at) => (isSmall(request, at) ? read.next().value : infos[at]));
}

/** Reads objects; `undefined` when git prints too much. */
async function readAll(
  options: GitOptions,
  requests: readonly ObjectRequest[],
): Promise<(ReadObject | undefined)[] | undefined> {
  if (requests.length === 0) return [];
  const lines = requests.map(({ name, infoOnly }) => {
    if (name.includes('\0')) throw new TypeError('an object name must not contain a NUL');
    return `${infoOnly === true ? 'info' : 'contents'} ${name}\0`;
  });
  // After `flush` git answers at once. Otherwise it would wait for the end of its input, which Node may send much later.
  const input = `${lines.join('')}flush\0`;
  const result = await runGit(['cat-file', '--buffer', '--batch-command', '-z'], { ...options, input });
  if (result.isCut) return undefined;
  if (result.code !== 0) {
    if (!isDamage(result.stderr)) throw gitFailure('cat-file', result);
    if (requests.length === 1) return [undefined];
    const half = Math.ceil(requests.length / 2);
    const first = await readObjects(options, requests.slice(0, half));
    return [...first, ...(await readObjects(options, requests.slice(half)))];
  }
  let at = 0;
  return requests.map(({ name, infoOnly, mostBytes = Infinity }) => {
    // For a missing object git repeats the name, line feeds and all.
    const echo = name.includes('\n') && result.stdout.indexOf(`${name} `, at) === at;
    const lineEnd = result.stdout.indexOf(10, at + (echo ? Buffer.byteLength(name) : 0));
    const header = parseHeader(result.stdout.toString('latin1', at, lineEnd));
    at = lineEnd + 1;
    if (header === undefined || infoOnly === true) return header;
    const content = result.stdout.subarray(at, at + header.size);
    at += header.size + 1;
    return header.size <= mostBytes ? { ...header, content } : header;
  });
}

/** Shared by all objects whose content is not read: there may be thousands. */
const NOTHING = Buffer.alloc(0);

/** Parses `<oid> <type> <size>`; `undefined` for git's answer about a missing object. */
function parseHeader(line: string): ReadObject | undefined {
  const [, name = '', type = '', size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line) ?? [];
  const oid = parseOid(name);
  return oid && { oid, type, size: Number(size), content: NOTHING };
}

/** Whether git's message says that objects are missing or damaged, and not that the system refused to read them. */
export function isDamage(stderr: string): boolean {
  if (/Permission denied|Input\/output error|Too many open files|Cannot allocate memory/i.test(stderr))
    return false;
  return /missing|could not (parse|read)|bad (object|revision)|unable to (read|unpack|stream)|corrupt|inflate|cannot read/i.test(
    stderr,
  );
}

/** Maps file names to object names in a tree, which holds `<mode> <name>NUL<binary oid>` entries. */
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

type ObjectType = 'commit' | 'tree' | 'blob';

/** Type numbers of packed objects, gitformat-pack(5). */
const PACK_TYPES: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };

/** The committer's name to put into a commit if git knows none. */
export const NAMELESS = 'git-handoff';

/** An entry of a tree; a regular file unless its mode says otherwise. */
export interface TreeEntry {
  readonly name: BinaryText;
  readonly oid: Oid;
  readonly mode?: string;
}

/** More objects than this are stored as one pack: git waits for the disk once for each loose object, and twice for a pack. */
const MAX_LOOSE = 8;

const UNPACK = ['unpack-objects', '-q'];
const INDEX_PACK = ['index-pack', '--stdin'];
/** The most attempts to store while a garbage collection deletes objects. */
const MAX_TRIES = 10;

/** Loads the Node modules that an `ObjectBatch` needs (8 ms): a caller that waits for git can load them meanwhile. */
export function loadForWriting(): void {
  for (const name of ['node:crypto', 'node:zlib']) process.getBuiltinModule(name);
}

/**
 * Collects the objects of one write, names them, and stores them in one `git unpack-objects` process, instead of five with
 * hash-object, mktree and commit-tree. git checks the pack's own hash, and writes each object durably in the repository's
 * format.
 */
export class ObjectBatch {
  readonly #format: 'sha1' | 'sha256';
  /** Entries of a pack (gitformat-pack(5)). */
  readonly #objects = new Map<Oid, Buffer>();

  constructor(format: 'sha1' | 'sha256') {
    this.#format = format;
  }

  blob(data: Uint8Array): Oid {
    return this.#add('blob', Buffer.from(data));
  }

  tree(entries: readonly TreeEntry[]): Oid {
    // git sorts a folder as if its name ended in a slash.
    const keyed = entries.map((entry) => ({
      ...entry,
      key: entry.name + (entry.mode === '40000' ? '/' : ''),
    }));
    const sorted = keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
    const parts = sorted.flatMap(({ name, oid, mode = '100644' }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(oid, 'hex'),
    ]);
    return this.#add('tree', Buffer.concat(parts));
  }

  /** `seconds` since the epoch; author and committer are the same. */
  commit(content: {
    tree: Oid;
    parents: readonly Oid[];
    name: string;
    email: string;
    seconds: number;
    message: string;
  }): Oid {
    const person = `${identityText(content.name) || NAMELESS} <${identityText(content.email)}> ${content.seconds} +0000`;
    const lines = [
      `tree ${content.tree}`,
      ...content.parents.map((parent) => `parent ${parent}`),
      `author ${person}`,
      `committer ${person}`,
      '',
      content.message,
    ];
    return this.#add('commit', Buffer.from(lines.join('\n')));
  }

  /**
   * Stores everything collected. Objects that exist already are left as they are.
   *
   * @throws Failure `environment` when they could not be written (full disk, permissions).
   */
  store(options: Omit<GitOptions, 'input'>): Promise<void> {
    return this.#feed(UNPACK, options);
  }

  /**
   * Stores everything collected, however much it is: many objects as one pack.
   *
   * @throws Failure `environment` when they could not be written.
   */
  storeMany(options: Omit<GitOptions, 'input'>): Promise<void> {
    const batched = ['-c', 'core.fsyncMethod=batch', ...UNPACK];
    return this.#feed(this.#objects.size > MAX_LOOSE ? INDEX_PACK : batched, options);
  }

  /**
   * Call this as soon as a ref reaches what was stored. `git gc --prune=now` deletes loose objects that no ref reached when it
   * counted them, even if a ref reaches them now. This call stores the objects again as a pack, which a collection that began
   * earlier does not delete. Costs a few stat(2) calls when no collection runs.
   *
   * @throws Failure `environment` when they could not be written.
   */
  async storeAgainIfCollected({ cwd, commonDir }: Pick<Repository, 'cwd' | 'commonDir'>): Promise<void> {
    const isCollecting = existsSync(join(commonDir, 'gc.pid'));
    if (!isCollecting && (await this.#isThere(cwd, join(commonDir, 'objects')))) return;
    await this.#feed(INDEX_PACK, { cwd });
  }

  /**
   * Runs git, and runs it again if a prune got in its way: `git prune --expire=now` also deletes the temporary files of a running
   * git, and objects that an index-pack is about to compare with its own.
   */
  async #feed(command: readonly string[], options: Omit<GitOptions, 'input'>): Promise<void> {
    const input = this.#pack();
    let result = await runGit(command, { ...options, input });
    for (let tries = 1; wasSwept(result) && tries < MAX_TRIES; tries++) {
      result = await runGit(command, { ...options, input });
    }
    if (result.code !== 0) throw gitFailure(command === INDEX_PACK ? 'index-pack' : 'unpack-objects', result);
  }

  async #isThere(cwd: string, folder: string): Promise<boolean> {
    const oids = [...this.#objects.keys()];
    const notLoose = oids.filter((oid) => !existsSync(join(folder, oid.slice(0, 2), oid.slice(2))));
    return (await lookUpObjects({ cwd }, notLoose)).every((object) => object !== undefined);
  }

  #add(type: ObjectType, data: Buffer): Oid {
    const oid = parseOid(objectName(this.#format, type, data));
    if (oid === undefined) throw new TypeError(`no object name for ${type}`);
    // Loaded only to store something: most calls of a hook only read.
    const { deflateSync } = process.getBuiltinModule('node:zlib');
    // Speed matters more than size here: a command waits for this, and git compresses loose objects again itself.
    const entry = () => Buffer.concat([entryHeader(type, data.length), deflateSync(data, { level: 1 })]);
    if (!this.#objects.has(oid)) this.#objects.set(oid, entry());
    return oid;
  }

  #pack(): Buffer {
    const header = Buffer.alloc(12);
    header.write('PACK');
    header.writeUInt32BE(2, 4);
    header.writeUInt32BE(this.#objects.size, 8);
    const body = Buffer.concat([header, ...this.#objects.values()]);
    return Buffer.concat([body, Buffer.from(hash(this.#format, body), 'hex')]);
  }
}

function wasSwept({ code, stderr }: GitResult): boolean {
  return (
    code !== 0 &&
    /cannot read existing object|unable to (?:(?!unable to ).)*No such file or directory/.test(stderr)
  );
}

/** Type in bits 4-6 of the first byte, size in 4 bits and then 7 bits a byte, low bits first. */
function entryHeader(type: ObjectType, size: number): Buffer {
  const bytes: number[] = [];
  let current = (PACK_TYPES[type] << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(current | 128);
    current = rest & 127;
  }
  return Buffer.from([...bytes, current]);
}

/** Drops characters that would break the header line, as git's own strbuf_addstr_without_crud does. */
function identityText(text: string): string {
  // eslint-disable-next-line no-control-regex -- removes control characters
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '').trim();
}
