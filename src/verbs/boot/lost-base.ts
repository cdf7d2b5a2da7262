import type { HandoffCommit } from '../../domain/handoff.ts';
import type { HeadRelation } from '../../domain/verification/facts.ts';
import type { Limits } from '../../git/branches.ts';
import { committer } from '../../git/repository.ts';
import { runGit } from '../../git/run.ts';
import type { StoredSession } from '../../sessions/records.ts';

/** A base that is nowhere in a complete repository in which the note was written is gone for good; else it may be another clone's. */
export async function orLost(
  cwd: string,
  relation: HeadRelation,
  written: HandoffCommit,
  sessions: readonly StoredSession[],
  { timeoutMs }: Limits,
): Promise<HeadRelation> {
  if (relation.kind !== 'base-missing') return relation;
  const keys = '^(remote\\..*\\.(url|promisor)|extensions\\.partialclone)$';
  const result = await runGit(['config', '--name-only', '--get-regexp', keys], { cwd, timeoutMs });
  const known = result.stdout.toString('utf8');
  if (result.code > 1 || /\.(?:promisor|partialclone)$/m.test(known)) return relation;
  const isHere =
    sessions.some(({ record }) => record.session === written.trailers?.owner) ||
    (known === '' && (await committer(cwd)).email === written.mail);
  return isHere ? { kind: 'base-lost' } : relation;
}
