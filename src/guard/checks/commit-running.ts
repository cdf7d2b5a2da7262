import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ago } from '../../domain/age.ts';
import { peerName } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { formatOf, objectName } from '../../git/hash.ts';
import { commitOfOthers } from '../../changes/windows.ts';
import { type TreeCall, type Finding, ownerOf } from '../call.ts';
import type { FileFacts } from '../facts.ts';

/**
 * Warns a session that finds its own uncommitted change missing from the disk while another session commits: hooks such
 * as lint-staged's stash the whole tree and restore it at the end.
 */
export async function commitRunning(
  call: TreeCall,
  { ledger, placed, people }: FileFacts,
): Promise<readonly Finding[]> {
  const open = ledger();
  if (open === undefined) return [];
  const { place, ledgers } = open;
  const commit = commitOfOthers(place, ownerOf(call));
  if (commit === undefined) return [];
  const gone = placed.find(({ path }) => {
    const oid = ledgers.self.claims.get(path)?.after?.oid ?? null;
    return oid !== null && contentName(join(place.top, path), oid) !== oid;
  });
  if (gone === undefined) return [];
  const text =
    `git-handoff: ${escapeLine(gone.path)} is not as this session left it, and a commit by ` +
    `${peerName(commit.session, await people())} is in progress (since ${ago(commit.from, call.now)}): its hooks may have put the tree aside ` +
    'for a while. Wait until it ends and look again before you repair anything. If something is missing then: git handoff rescue';
  return [{ kind: 'tell', text }];
}

/** Returns the object name that git gives the file's bytes; empty when there is no file. */
function contentName(file: string, like: string): string {
  try {
    return objectName(formatOf(like), 'blob', readFileSync(file));
  } catch {
    return '';
  }
}
