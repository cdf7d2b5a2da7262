import type { CommitFacts, Problem } from '../domain/ledger/mixing.ts';
import { claimsOn } from '../domain/ledger/ownership.ts';

/** The other session named the path when it changed it; of this one only a command ran that changed it, too. */
export function isTouch(
  { path, claim }: Extract<Problem, { kind: 'contended' }>,
  { ledgers, sides }: Pick<CommitFacts, 'ledgers' | 'sides'>,
): boolean {
  const { own } = claimsOn(path, ledgers, sides, undefined);
  return claim.evidence === 'explicit' && own.every(({ evidence }) => evidence !== 'explicit');
}
