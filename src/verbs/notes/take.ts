import { commitOnTip } from './change-state.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { HandoffShape } from '../shapes.ts';

interface TakeOptions {
  readonly topic: string;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

/** What a take answers: the handoff, and from which commit it was taken. */
export type TakeValue = HandoffShape & { readonly taken: boolean; readonly tookFrom: string };

/**
 * Becomes the owner of a topic by a swap from exactly the tip that it names; the note stays as it is.
 * A topic that is the caller's already is no error and no commit.
 */
export async function take(options: TakeOptions, context: Context): Promise<CommandResult<TakeValue>> {
  const { shape, changed, tip, notices } = await commitOnTip(
    { ...options, take: true, state: undefined, pinned: true },
    context,
    (owner, me) => owner === me,
  );
  const { owner, client } = tip.trailers ?? {};
  const clients = new Map(owner === undefined || client === undefined ? [] : [[owner, client]]);
  return { value: { ...shape, taken: changed, tookFrom: tip.oid }, notices, clients };
}
