import { commitOnTip } from './change-state.ts';
import type { CommandResult, Context } from './context.ts';
import type { HandoffShape } from './shapes.ts';

export interface CloseOptions {
  readonly topic: string;
  readonly take: boolean;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

export type CloseValue = HandoffShape & { readonly changed: boolean };

/** Marks a topic as done. The history stays; closing what is closed is no error and no commit. */
export async function close(options: CloseOptions, context: Context): Promise<CommandResult<CloseValue>> {
  const { shape, changed, notices } = await commitOnTip(
    { ...options, state: 'closed', pinned: false },
    context,
    (_owner, _me, state) => state === 'closed',
  );
  return { value: { ...shape, changed }, notices };
}
