/** Why a command stopped; the closed list that `--json` shows and that decides the exit code. */
export type FailureCode =
  | 'not-found'
  | 'stale'
  | 'refused'
  | 'secret'
  | 'usage'
  | 'not-owner'
  | 'unknown-operator'
  | 'lost-race'
  | 'remote'
  | 'integrity'
  | 'environment'
  | 'internal';

/** Exit codes of the command line (design: 0 done, the rest below). */
export const EXIT_CODES: Readonly<Record<FailureCode, number>> = {
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
};

interface FailureDetails {
  /** The next command to type; it works when typed. */
  readonly hint?: string;
  /** Another one, which reaches more. */
  readonly otherHint?: string;
  /** Where the text is that the caller wanted to write. */
  readonly lostRef?: string;
  readonly cause?: unknown;
}

/** A command's refusal or inability: what happened, and the next command to type. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly hint: string | undefined;
  readonly otherHint: string | undefined;
  readonly lostRef: string | undefined;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Failure';
    this.code = code;
    this.hint = details.hint;
    this.otherHint = details.otherHint;
    this.lostRef = details.lostRef;
  }
}

/** Whatever was thrown, as a failure: what is not a failure yet is our own fault, and comes with its stack. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `this is a fault of git-handoff, please report it: ${text}`;
  return new Failure('internal', message, { cause: error });
}
