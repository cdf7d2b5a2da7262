import type { HandoffState } from '../../domain/handoff.ts';
import { commitOnTip } from './change-state.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { HandoffShape } from '../shapes.ts';

interface StateOptions {
  readonly topic: string;
  readonly take: boolean;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

export type StateValue = HandoffShape & { readonly changed: boolean };

/** Marks a topic as done. The history stays; closing what is closed is no error and no commit. */
export function close(options: StateOptions, context: Context): Promise<CommandResult<StateValue>> {
  return changeState(options, 'closed', context);
}

/** Takes a topic up again that was done. Reopening what is open is no error and no commit. */
export function reopen(options: StateOptions, context: Context): Promise<CommandResult<StateValue>> {
  return changeState(options, 'open', context);
}

async function changeState(
  options: StateOptions,
  wanted: HandoffState,
  context: Context,
): Promise<CommandResult<StateValue>> {
  const { shape, changed, notices } = await commitOnTip(
    { ...options, state: wanted, pinned: false },
    context,
    (_owner, _me, state) => state === wanted,
  );
  return { value: { ...shape, changed }, notices };
}
