/** Every reason why a command can stop, as `--json` shows it, with its exit code; 0 is success. */
export const EXIT_CODES = {
  'not-found': 1,
  stale: 1,
  refused: 1,
  secret: 1,
  usage: 2,
  'not-owner': 3,
  'unknown-operator': 3,
  'lost-race': 4,
  remote: 5,
  integrity: 6,
  environment: 7,
  internal: 70,
} as const;
export type FailureCode = keyof typeof EXIT_CODES;

interface FailureDetails {
  /** The next command to type; it works as printed. */
  readonly hint?: string;
  /** A second command, which does or shows more. */
  readonly otherHint?: string;
  /** The ref that keeps the text that the caller wanted to write. */
  readonly lostRef?: string;
  /** Whether the message already says where the text is, or that it could not be kept. */
  readonly locatesText?: true;
  readonly cause?: unknown;
}

/** A command's refusal or inability: what happened, and the next command to type. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  readonly otherHint: string | undefined;
  readonly lostRef: string | undefined;
  readonly locatesText: boolean;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Failure';
    this.code = code;
    this.hint = details.hint;
    this.otherHint = details.otherHint;
    this.lostRef = details.lostRef;
    this.locatesText = details.locatesText === true;
  }
}

export const NO_SPACE_HINT = 'free some disk space, then try again';
export const NOT_WRITABLE_HINT = 'make the repository writable for this user, then try again';
export const DISK_ERROR_HINT = 'look for free space and disk errors: df . && dmesg | tail';

/** What to do about a system call that failed for a reason outside the program, by errno(3). */
const SYSTEM_HINTS = new Map([
  ['ENOSPC', NO_SPACE_HINT],
  ['EDQUOT', NO_SPACE_HINT],
  ['EROFS', NOT_WRITABLE_HINT],
  ['EACCES', NOT_WRITABLE_HINT],
  ['EPERM', NOT_WRITABLE_HINT],
  ['EIO', DISK_ERROR_HINT],
]);

/**
 * Turns whatever was thrown into a failure. Anything that is no `Failure` is our own bug and is reported with its stack,
 * unless the disk is the reason: full, not writable or broken.
 */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const hint = error instanceof Error && 'code' in error ? SYSTEM_HINTS.get(String(error.code)) : undefined;
  if (hint !== undefined) return new Failure('environment', (error as Error).message, { hint, cause: error });
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `this is a fault of git-handoff, please report it: ${text}`;
  return new Failure('internal', message, { cause: error });
}
