import { Failure, type FailureCode } from '../domain/failure.ts';
import type { SessionId } from '../domain/names.ts';
import { ownerName } from '../domain/owner-name.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { Repository } from '../git/repository.ts';
import { keepInFile } from '../host/folders.ts';
import type { WriteResult } from './handoffs.ts';
import { recordRefusal } from '../sessions/happenings.ts';
import { saveLost } from './lost.ts';
import { type TopicArgument, typedTopic } from './topic-argument.ts';

type RefusedWrite = Exclude<WriteResult, { kind: 'written' } | { kind: 'unchanged' }>;

/** Who wanted to write what where, for keeping the text when it cannot become the tip. */
export interface WriteIntent {
  readonly repository: Repository;
  readonly target: TopicArgument;
  /** `undefined` for acts without a text of their own (take, close). */
  readonly note: Uint8Array | undefined;
  readonly caller: SessionId;
  readonly now: number;
}

/** Turns a refused write into the failure that says who, what and the next command; the text is kept first. */
export async function refusal(result: RefusedWrite, text: WriteIntent): Promise<Failure> {
  const name = typedTopic(text.target.branch, text.target.topic);
  const show = `git handoff show ${name}`;
  switch (result.kind) {
    case 'not-owner': {
      const message = `${name} belongs to ${ownerName(result.owner, result)}`;
      const { repository, caller, now } = text;
      recordRefusal({ commonDir: repository.commonDir, session: caller, text: message, now });
      return failKeeping(text, 'not-owner', message, `git handoff take ${name}`);
    }
    case 'expectation-missed': {
      const now = result.tip === undefined ? 'it no longer exists' : `it is at ${result.tip}`;
      return failKeeping(text, 'lost-race', `${name} is not at the expected commit: ${now}`, show);
    }
    case 'lost-race':
      return failKeeping(text, 'lost-race', `${name} changed at every attempt`, show);
    case 'read-only':
      return failKeeping(
        text,
        'integrity',
        `${name} was written in a format this version does not know`,
        show,
      );
  }
}

/** A failure whose message says where the text is kept. */
export async function failKeeping(
  text: WriteIntent,
  code: FailureCode,
  message: string,
  hint: string,
): Promise<Failure> {
  if (text.note === undefined || text.note.length === 0) return new Failure(code, message, { hint });
  try {
    const { repository, target, note, caller, now } = text;
    const details = { kind: 'refused', session: caller, at: now, reason: code, tip: null } as const;
    const { number, ref } = await saveLost(repository, target.path, note, details);
    const print = `git handoff show ${typedTopic(target.branch, target.topic)} --lost=${number}`;
    return new Failure(code, `${message}; your text is kept, print it with: ${print}`, {
      hint,
      lostRef: ref,
      tellsOfText: true,
    });
  } catch {
    return new Failure(code, `${message}; ${keptText(text.note)}`, { hint, tellsOfText: true });
  }
}

/** Keeps a text outside the repository and says where. */
export function keptText(note: Uint8Array): string {
  const file = keepInFile(note);
  return file === undefined
    ? 'your text could NOT be kept: no folder is writable'
    : `your text is kept in ${escapeLine(file)}`;
}
