import fs from 'node:fs';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBlob, readCommit, resolveRef } from 'isomorphic-git';
import { NOTE_FILE, STATE_FILE } from '../domain/handoff.ts';
import type { Oid, RefName } from '../domain/names.ts';
import { CommitText } from './commit-text.ts';
import { objectFormat } from './repository.ts';
import type { WholeCommit } from './verify-objects.ts';

/**
 * isomorphic-git as a second implementation: it reads the same files with code that shares only zlib with git's,
 * and what it reads must be the same. It never writes, and serves no other read.
 */

/** It holds a pack whole in memory. Bytes. */
const MAX_PACK_BYTES = 512 * 1024 * 1024;

/** Why isomorphic-git cannot read this repository; `undefined` when it can. */
export async function cannotVerify(cwd: string, commonDir: string): Promise<string | undefined> {
  if (statSync(join(commonDir, 'reftable'), { throwIfNoEntry: false }) !== undefined) {
    return 'it does not support the reftable backend';
  }
  if ((await objectFormat({ cwd })) !== 'sha1') return 'it does not support sha256';
  const info = join(commonDir, 'objects', 'info');
  if (sizeOf(join(info, 'alternates')) > 0)
    return 'it does not support alternates, where objects are borrowed';
  const largest = Math.max(0, ...packs(commonDir));
  if (largest > MAX_PACK_BYTES) return 'a pack is larger than it can hold in memory';
  return undefined;
}

function packs(commonDir: string): number[] {
  const folder = join(commonDir, 'objects', 'pack');
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.pack'));
    return names.map((name) => sizeOf(join(folder, name)));
  } catch {
    return [];
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}

/** Reads the same objects and refs from the repository's common folder; one for a whole run, it remembers packs. */
export class SecondReader {
  readonly #where: { fs: typeof fs; gitdir: string; cache: object };

  constructor(commonDir: string) {
    this.#where = { fs, gitdir: commonDir, cache: {} };
  }

  /** How what it finds at a ref differs; `undefined` when it is the same. */
  async compareRef(ref: RefName, expected: Oid): Promise<string | undefined> {
    const oid = await this.#read(() => resolveRef({ ...this.#where, ref }));
    if (oid instanceof Error) return `does not find ${ref} (${oid.message})`;
    return oid === expected ? undefined : `finds ${oid} at ${ref}, git ${expected}`;
  }

  /** How its reading of a commit differs from git's; empty when it is the same. */
  async compareCommit(commit: WholeCommit): Promise<string[]> {
    const { oid } = commit;
    const name = oid.slice(0, 12);
    const its = await this.#read(() => readCommit({ ...this.#where, oid }));
    if (its instanceof Error) return [`cannot read commit ${name} (${its.message})`];
    const ours = new CommitText(commit.content.toString('latin1'));
    const differences: string[] = [];
    // It ends every message with one line feed.
    if (its.commit.message.trimEnd() !== ours.message.trimEnd()) {
      differences.push(`reads another message or other trailers in commit ${name}`);
    }
    if (its.commit.parent.join(' ') !== ours.parents.join(' ')) {
      differences.push(`reads other parents of commit ${name}`);
    }
    if (its.commit.committer.timestamp !== ours.seconds) differences.push(`reads another time in ${name}`);
    for (const [file, bytes] of [
      [NOTE_FILE, commit.note],
      [STATE_FILE, commit.state],
    ] as const) {
      const found = await this.#read(() => readBlob({ ...this.#where, oid, filepath: file }));
      if (found instanceof Error) differences.push(`cannot read ${file} of ${name} (${found.message})`);
      else if (found.oid !== commit.tree.get(file)) differences.push(`finds another ${file} in ${name}`);
      else if (!bytes.equals(found.blob)) differences.push(`reads other bytes of ${file} in ${name}`);
    }
    return differences;
  }

  async #read<T>(read: () => Promise<T>): Promise<T | Error> {
    try {
      return await read();
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}
