import type { Scene } from './scene.ts';

/**
 * Does what a decision can do without: when the ledger cannot be read or written (a full disk, a folder that is none),
 * what is known about handoff files still counts.
 */
export async function quietly<T>(scene: Scene, what: () => Promise<T>): Promise<T | undefined> {
  try {
    return await what();
  } catch (error) {
    scene.log('open', `not known whose the files are: ${String(error)}`);
    scene.notChecked('whose the files are');
    return undefined;
  }
}
