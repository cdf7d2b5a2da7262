import { basename, join } from 'node:path';
import type { OthersOperation } from '../domain/ledger/mixing.ts';
import { type SessionId, shortId } from '../domain/names.ts';
import { exists } from '../host/disk.ts';
import { operationText } from './begun-operation.ts';

/** What is said of an operation of another session; apart from its search, which tool calls load, too. */

/** Who began what, for a refusal. */
export function begunText({ name }: OthersOperation, who: string, when: string): string {
  return `${who} began ${operationText(name)} here ${when} and has not finished it: a commit would finish or continue it, with that session’s changes`;
}

/** A folder beside the working tree for a worktree of the session's own, relative to the top; it does not exist. */
export function ownWorktree(top: string, session: SessionId): string {
  const name = `${basename(top).replace(/[^A-Za-z0-9_-]+/g, '-')}-${shortId(session)}`.replace(/^-+/, '');
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? `../${name}` : `../${name}-${n}`;
    if (!exists(join(top, path))) return path;
  }
}
