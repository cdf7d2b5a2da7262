import { describeFindings } from '../../domain/secrets/finding.ts';
import { HANDOFFS, decodeBranch, parsePath } from '../../git/namespace.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { LeavingSecret } from './scan-notes.ts';

/** Why a ref is not pushed, and how it could be. */
interface LeavingRefusal {
  readonly ref: string;
  readonly why: string;
  readonly hint: string;
}

/**
 * One refusal for each ref that would take a secret along; the others may go. `allowing` is the push command with which
 * somebody lets these pass. With `handoff.secretScan = warn` the same is said, and the ref goes.
 */
export function refuseLeaving(found: readonly LeavingSecret[], allowing: string): LeavingRefusal[] {
  const refs = new Map<string, LeavingSecret[]>();
  for (const secret of found) refs.set(secret.ref, [...(refs.get(secret.ref) ?? []), secret]);
  return [...refs].map(([ref, secrets]) => {
    const name = nameOf(ref);
    const places = secrets.map(
      ({ commit, findings }) => `at ${commit.slice(0, 12)} ${describeFindings(findings)}`,
    );
    const first = secrets[0]?.commit ?? '';
    return {
      ref,
      why: `${name} looks like it contains a secret: ${places.slice(0, TOLD).join('; ')}${more(places)}`,
      hint: `git handoff show ${name} --at ${first}; if it is not a secret: ${allowing}`,
    };
  });
}

/** So many versions of a note are told one by one. */
const TOLD = 3;
const more = (places: readonly string[]) =>
  places.length > TOLD ? `; and in ${places.length - TOLD} more versions` : '';

function nameOf(ref: string): string {
  const path = parsePath(ref, HANDOFFS);
  return typedTopic(
    path === undefined ? ref : (decodeBranch(path.component) ?? path.component),
    path?.topic ?? '',
  );
}
