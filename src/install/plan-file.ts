import type { FileChange, FileReceipt, FileRole } from './change.ts';
import { bytesBefore, fileReceipt } from './change.ts';
import { NEW_HOOK } from './hook-block.ts';
import { contentStart } from './json-text.ts';

/** One file that a plan is about. Texts are binary strings (one character a byte). */
interface FileGoal {
  readonly role: FileRole;
  readonly path: string;
  readonly client?: string;
  readonly current: Buffer | undefined;
  readonly prior: FileReceipt | undefined;
  /** Mode for a file that does not exist yet. */
  readonly mode: number;
  /** Takes our part out of a text that was edited since. */
  strip(text: string): string;
  /** The text that is wanted, given the one without our part and the one that stands there. */
  want(base: string, current: string): string;
}

export interface PlannedFile {
  readonly change: FileChange;
  readonly receipt: FileReceipt;
}

/** What has to change in this file, or undefined when it is as wanted. Pure. */
export function planFile(goal: FileGoal): PlannedFile | undefined {
  const { role, path, client, current, mode } = goal;
  const base = withoutUs(goal);
  const text = goal.want(base.bytes.toString('latin1'), current?.toString('latin1') ?? '');
  const after = Buffer.from(text, 'latin1');
  if (current !== undefined && after.equals(current)) return undefined;
  const file = { path, role, ...(client === undefined ? {} : { client }) };
  return {
    change: { kind: 'file', ...file, before: current, after, mode },
    receipt: fileReceipt({ ...file, existed: base.existed }, base.bytes, after),
  };
}

/** The file as it would be had we never been here. */
function withoutUs(goal: FileGoal): { bytes: Buffer; existed: boolean } {
  const { current, prior } = goal;
  if (current === undefined) return { bytes: Buffer.alloc(0), existed: false };
  const exact = prior === undefined ? undefined : bytesBefore(prior, current);
  const bytes = exact ?? Buffer.from(goal.strip(current.toString('latin1')), 'latin1');
  return { bytes, existed: prior?.existed ?? true };
}

/**
 * Takes our part out of a file: the exact bytes when it is as we left it, else by its structure.
 * Undefined when there is nothing to do. Pure.
 */
export function unplanFile(
  file: { path: string; role: FileRole; existed: boolean },
  current: Buffer | undefined,
  receipt: FileReceipt | undefined,
  strip: (text: string) => string,
): FileChange | undefined {
  if (current === undefined) return undefined;
  const exact = receipt === undefined ? undefined : bytesBefore(receipt, current);
  const before = exact ?? Buffer.from(strip(current.toString('latin1')), 'latin1');
  if (before.equals(current)) return undefined;
  const gone = !file.existed && isNothing(before.toString('latin1'));
  const { path, role } = file;
  return { kind: 'file', role, path, before: current, after: gone ? undefined : before, mode: 0o644 };
}

/** Some clients want a version in theirs. */
const EMPTY_SETTINGS = /^\{\s*(?:"version":\s*\d{1,9}\s*)?\}$/;

/** What is left of a file that we made when our part is out and nobody else wrote into it. */
function isNothing(text: string): boolean {
  const content = text.slice(contentStart(text)).trim();
  return content === '' || content === NEW_HOOK.trim() || EMPTY_SETTINGS.test(content);
}
