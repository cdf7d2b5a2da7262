import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { SyncShape } from '../shapes.ts';
import { typedTopic } from '../../notes/topic-argument.ts';

/** Beside the repository's own files: nothing in the working tree is overwritten. */
const KEPT_FILE = '$(git rev-parse --git-path handoff-note.md)';
const FALLBACK = 'refs/heads/handoffs/';

/** What a sync could not do, as one failure with the next command; the items say which handoffs. */
export function syncFailure(items: readonly SyncShape[], prefix: string): Failure | undefined {
  const of = (action: SyncShape['action']) => items.filter((item) => item.action === action);
  const [declined, refused, moved, behind] = [of('declined'), of('refused'), of('moved'), of('behind')];
  const [secret] = of('secret');
  if (secret !== undefined) return secretFailure(secret, of('secret').length);
  if (declined[0] !== undefined) return declinedFailure(declined[0], declined.length, prefix);
  if (refused[0] !== undefined) {
    const { remote, branch, topic, why } = refused[0];
    return new Failure(
      'integrity',
      `${count(refused)} of ${escapeLine(remote)} made an illegal move (${why ?? ''}); yours are unchanged`,
      { hint: `git handoff log ${typedTopic(branch ?? '', topic ?? '')}` },
    );
  }
  if (moved[0] !== undefined)
    return new Failure('lost-race', `${count(moved)} moved each time; everything is kept`, {
      hint: `git handoff sync ${shellWord(moved[0].remote)}`,
    });
  if (behind[0] === undefined) return undefined;
  return new Failure('lost-race', `${escapeLine(behind[0].remote)} has moved on for ${count(behind)}`, {
    hint: `git handoff sync ${shellWord(behind[0].remote)}`,
  });
}

const count = (items: readonly SyncShape[]) =>
  items.length === 1 ? 'a handoff' : `${items.length} handoffs`;

function secretFailure({ why, remote, branch, topic, former }: SyncShape, secrets: number): Failure {
  const more = secrets === 1 ? '' : `; ${secrets - 1} more stay for the same reason`;
  const name = typedTopic(branch ?? '', topic ?? '');
  // Its text is kept first, and no version is left that holds it.
  const rewritten = [
    `git handoff show ${name} --raw >"${KEPT_FILE}"`,
    `git handoff purge ${name} --yes${former === null ? '' : ` --remote ${shellWord(remote)}`}`,
    `git handoff write ${name} --file "${KEPT_FILE}"`,
  ].join(' && ');
  return new Failure('secret', `a handoff was not pushed: ${why ?? ''}${more}`, {
    hint: `git handoff push ${shellWord(remote)} --allow-secret, if it is not a secret; if it is: ${rewritten}`,
  });
}

/** A server that has its own rule says what to do; one that knows nothing of handoffs may not want their refs. */
function declinedFailure({ remote, why }: SyncShape, declined: number, prefix: string): Failure {
  const what = declined === 1 ? 'a handoff' : `${declined} handoffs`;
  const message = `${escapeLine(remote)} declined ${what}: ${escapeLine(why ?? '')}`;
  const advice = /hint: (git handoff [^;]*)/.exec(why ?? '')?.[1];
  // A full disk over there takes no branch either.
  const isBroken = /unpacker error|unable to (?:write|migrate)|No space left|Read-only file system/.test(
    why ?? '',
  );
  const elsewhere = isBroken
    ? `git handoff push ${shellWord(remote)}, once the server can write again`
    : prefix === FALLBACK
      ? `git ls-remote ${shellWord(remote)}`
      : `git config handoff.remotePrefix ${FALLBACK} && git handoff push ${shellWord(remote)}`;
  return new Failure('remote', message, { hint: advice ?? elsewhere });
}
