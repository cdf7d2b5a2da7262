import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type Oid, parseOid } from '../domain/names.ts';
import { type GitOptions, gitFailure, runGit } from './run.ts';
import type { Repository } from './repository.ts';

type ObjectType = 'commit' | 'tree' | 'blob';

/** Type numbers of packed objects, gitformat-pack(5). */
const PACK_TYPES: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };

/** An entry of a tree: a regular file that is a blob. */
export interface TreeFile {
  readonly name: string;
  readonly oid: Oid;
}

/**
 * Collects the objects of one write, names them, and stores them in one `git unpack-objects` process
 * (four processes less than hash-object, mktree and commit-tree). git checks the pack's own hash and
 * writes each object durably, in whatever object format the repository has.
 */
export class ObjectBatch {
  readonly #format: Repository['objectFormat'];
  readonly #objects = new Map<Oid, { type: ObjectType; data: Buffer }>();

  constructor(format: Repository['objectFormat']) {
    this.#format = format;
  }

  blob(data: Uint8Array): Oid {
    return this.#add('blob', Buffer.from(data));
  }

  tree(files: readonly TreeFile[]): Oid {
    const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
    const entries = sorted.flatMap(({ name, oid }) => [
      Buffer.from(`100644 ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]);
    return this.#add('tree', Buffer.concat(entries));
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
    const person = `${identityText(content.name) || 'git-handoff'} <${identityText(content.email)}> ${content.seconds} +0000`;
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
  async store(options: GitOptions): Promise<void> {
    const result = await runGit(['unpack-objects', '-q'], { ...options, input: this.#pack() });
    if (result.code !== 0) throw gitFailure('unpack-objects', result);
  }

  #add(type: ObjectType, data: Buffer): Oid {
    const oid = parseOid(
      createHash(this.#format).update(`${type} ${data.length}\0`).update(data).digest('hex'),
    );
    if (oid === undefined) throw new TypeError(`no object name for ${type}`);
    this.#objects.set(oid, { type, data });
    return oid;
  }

  #pack(): Buffer {
    const header = Buffer.alloc(12);
    header.write('PACK');
    header.writeUInt32BE(2, 4);
    header.writeUInt32BE(this.#objects.size, 8);
    const entries = [...this.#objects.values()].flatMap(({ type, data }) => [
      entryHeader(PACK_TYPES[type], data.length),
      deflateSync(data),
    ]);
    const body = Buffer.concat([header, ...entries]);
    return Buffer.concat([body, createHash(this.#format).update(body).digest()]);
  }
}

/** Type in bits 4-6 of the first byte, size in 4 bits and then 7 bits a byte, low bits first. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let current = (type << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(current | 128);
    current = rest & 127;
  }
  bytes.push(current);
  return Buffer.from(bytes);
}

/** Characters that would break the header line are dropped, as git's own strbuf_addstr_without_crud does. */
function identityText(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what must go
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '').trim();
}

/** One answer of git-cat-file(1); `content` is empty when only the existence was asked for. */
export interface ReadObject {
  readonly oid: Oid;
  readonly type: string;
  readonly content: Buffer;
}

/** An object to read, by name or as `<oid>:<path>`. */
export interface ObjectRequest {
  readonly name: string;
  /** Only whether it exists and its type, for objects whose bytes nobody needs. */
  readonly infoOnly?: boolean;
}

/** Reads objects in order, in one process; missing ones are `undefined`. */
export async function readObjects(
  options: GitOptions,
  requests: readonly ObjectRequest[],
): Promise<(ReadObject | undefined)[]> {
  if (requests.length === 0) return [];
  const lines = requests.map(({ name, infoOnly }) => {
    if (/[\n\0]/.test(name)) throw new TypeError('an object name holds no line feed');
    return `${infoOnly === true ? 'info' : 'contents'} ${name}`;
  });
  const result = await runGit(['cat-file', '--batch-command'], {
    ...options,
    input: `${lines.join('\n')}\n`,
  });
  if (result.code !== 0) throw gitFailure('cat-file', result);
  let at = 0;
  return requests.map(({ infoOnly }) => {
    const lineEnd = result.stdout.indexOf(10, at);
    const header = result.stdout.toString('utf8', at, lineEnd);
    at = lineEnd + 1;
    const match = /^([0-9a-f]+) (\w+) (\d+)$/.exec(header);
    const oid = parseOid(match?.[1] ?? '');
    if (match === null || oid === undefined) return undefined;
    const size = infoOnly === true ? 0 : Number(match[3]);
    const content = result.stdout.subarray(at, at + size);
    if (infoOnly !== true) at += size + 1;
    return { oid, type: match[2] ?? '', content };
  });
}

/** Commits reachable from `tip` by first parents and not from `base`, newest first. */
export async function firstParentChain(options: GitOptions, tip: Oid, base: Oid | undefined): Promise<Oid[]> {
  const range = base === undefined ? [tip] : [tip, `^${base}`];
  const result = await runGit(['rev-list', '--first-parent', '--end-of-options', ...range], options);
  if (result.code !== 0) throw gitFailure('rev-list', result);
  return result.stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => parseOid(line) ?? []);
}
