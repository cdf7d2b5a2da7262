/**
 * A name that nothing else has: for temporary files beside the real one, and for events. Loading node:crypto costs
 * milliseconds, so only code that needs a secret does it.
 */
export function randomName(): string {
  const part = () => Math.floor(Math.random() * 2 ** 32).toString(36);
  return `${process.pid.toString(36)}-${Date.now().toString(36)}-${part()}${part()}`;
}
