/**
 * How long a command that may destroy work waits for its rescue: more than any other decision takes, for nothing brings
 * the work back otherwise. Milliseconds.
 */
export const RESCUE_MS = 2500;
