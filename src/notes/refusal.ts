import { escapeLine, Failure, type FailureCode } from '../domain/messages.ts';
import { type SessionId, isPerson, parseTopic, ownerName } from '../domain/names.ts';
import type { Repository } from '../git/repository.ts';
import { keepInFile } from '../host/folders.ts';
import type { WriteResult } from './handoffs.ts';
import { recordRefusal } from '../sessions/happenings.ts';
import { saveLost } from './lost.ts';
import type { Context } from '../sessions/caller.ts';
import { readTopic } from './topic.ts';
import { type TopicArgument, typedTopic } from './topic-argument.ts';
import { ownerState } from './whose-note.ts';

type RefusedWrite = Exclude<WriteResult, { kind: 'written' } | { kind: 'unchanged' }>;

/** Who wanted to write which text where, so that the text can be kept if the write is refused. */
export interface WriteIntent {
  readonly repository: Repository;
  readonly target: TopicArgument;
  /** `undefined` for acts without a text of their own (take, close). */
  readonly note: Uint8Array | undefined;
  readonly caller: SessionId;
  readonly context: Context;
  /** Whether the caller wanted to close the note, which only its owner or a person may do. */
  readonly closes?: boolean;
}

/** Keeps the text of a refused write, and returns the failure, which names the next command. */
export async function refusal(result: RefusedWrite, text: WriteIntent): Promise<Failure> {
  const name = typedTopic(text.target.branch, text.target.topic);
  const fail = (code: FailureCode, why: string) =>
    failKeeping(text, code, `${name} ${why}`, `git handoff show ${name}`);
  switch (result.kind) {
    case 'not-owner':
      return refusedToOthers(result, text, name);
    case 'expectation-missed': {
      const now = result.tip === undefined ? 'it no longer exists' : `it is at ${result.tip}`;
      return fail('lost-race', `is not at the expected commit: ${now}`);
    }
    case 'lost-race':
      return fail('lost-race', 'changed at every attempt');
    case 'read-only':
      return fail('integrity', 'was written in a format this version does not know');
  }
}

/**
 * Refuses to change another owner's note. A session cannot take a note from a session at work: it writes a note of its own
 * beside that note, or asks the user. A note whose owner is gone may be taken.
 */
async function refusedToOthers(
  { owner, ...known }: Extract<RefusedWrite, { kind: 'not-owner' }>,
  text: WriteIntent,
  name: string,
): Promise<Failure> {
  const { repository, caller, context, closes } = text;
  const state = await ownerState(repository, owner, caller, context);
  const message = `${name} belongs to ${ownerName(owner, known)}${STATES[state]}`;
  const { commonDir } = repository;
  recordRefusal({ commonDir, session: caller, text: message, now: context.now });
  const take = `git handoff take ${name}`;
  if (closes === true) {
    const hint = state === 'gone' ? take : `git handoff show ${name}`;
    return new Failure('not-owner', `${message}; a session closes only its own notes`, { hint });
  }
  if (state === 'gone') return failKeeping(text, 'not-owner', message, take);
  if (text.note === undefined) {
    if (state === 'idle' || isPerson(caller)) return new Failure('not-owner', message, { hint: take });
    return new Failure('not-owner', `${message}: only the user may take it over now`, {
      hint: `git handoff show ${name}`,
    });
  }
  const beside = await nameBeside(text);
  const besideIt = (print: string | undefined) =>
    print === undefined || beside === undefined
      ? `git handoff show ${name}`
      : `${print} | git handoff write ${beside} --file -`;
  // The user may want the caller to take the note over.
  return failKeeping(text, 'not-owner', message, besideIt, state === 'idle' ? take : undefined);
}

const STATES = { 'at work': ', which is at work', idle: ', which waits for its user', gone: '' } as const;

/** A topic for the caller's note beside another session's: a free topic, or one that the caller owns already. */
async function nameBeside({ repository, target, caller }: WriteIntent): Promise<string | undefined> {
  for (const more of ['-cont', '-cont-2', '-cont-3']) {
    const topic = parseTopic(`${target.topic}${more}`);
    if (topic === undefined) return undefined;
    const { tip } = await readTopic(repository, { ...target.path, topic });
    if (tip === undefined || tip.trailers?.owner === caller) return typedTopic(target.branch, topic);
  }
  return undefined;
}

/** A failure whose message says where the text is kept; its hint, `next`, may contain the command that prints the text. */
export async function failKeeping(
  text: WriteIntent,
  code: FailureCode,
  message: string,
  next: string | ((print: string | undefined) => string),
  otherHint?: string,
): Promise<Failure> {
  const hintsFor = (print?: string) => ({
    hint: typeof next === 'string' ? next : next(print),
    ...(otherHint === undefined ? {} : { otherHint }),
  });
  if (text.note === undefined || text.note.length === 0) return new Failure(code, message, hintsFor());
  try {
    const { repository, target, note, caller, context } = text;
    const details = { kind: 'refused', session: caller, at: context.now, reason: code, tip: null } as const;
    const { number, ref } = await saveLost(repository, target.path, note, details);
    const print = `git handoff show ${typedTopic(target.branch, target.topic)} --lost=${number}`;
    return new Failure(code, `${message}; your text is kept, print it with: ${print}`, {
      ...hintsFor(print),
      lostRef: ref,
      locatesText: true,
    });
  } catch {
    return new Failure(code, `${message}; ${keptText(keepInFile(text.note))}`, {
      ...hintsFor(),
      locatesText: true,
    });
  }
}

/** Says that a text is kept in this file outside the repository, or (`undefined`) nowhere. */
export function keptText(file: string | undefined): string {
  return file === undefined
    ? 'your text could NOT be kept: no folder is writable'
    : `your text is kept in ${escapeLine(file)}`;
}
