import type { Call } from './call.ts';

/**
 * Does what an answer can do without: when the ledger cannot be read or written (a full disk, a folder that is none),
 * what is known about handoff files still counts. The session is told that something was not looked at.
 */
export async function orUnchecked<T>(call: Call, what: () => Promise<T>): Promise<T | undefined> {
  try {
    return await what();
  } catch (error) {
    call.log('open', `not known whose the files are: ${String(error)}`);
    call.notChecked('whose the files are');
    return undefined;
  }
}
