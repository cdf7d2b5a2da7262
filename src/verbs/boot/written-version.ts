import { type HandoffCommit, NOTE_FILE } from '../../domain/handoff.ts';
import { loadCommits } from '../../git/commits.ts';
import { lastChange } from '../../git/last-change.ts';

/**
 * The version that brought the note's text. A take, a close and a reopen keep the text, and record what the repository
 * was like at that moment: not what the text is about.
 */
export async function writtenVersion(cwd: string, tip: HandoffCommit): Promise<HandoffCommit> {
  if (tip.parents.length === 0) return tip;
  const oid = await lastChange(cwd, tip.oid, NOTE_FILE);
  if (oid === undefined || oid === tip.oid) return tip;
  const [written] = await loadCommits({ cwd }, [oid]);
  return written ?? tip;
}
