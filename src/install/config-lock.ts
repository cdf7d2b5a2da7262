/** Lines that `init` writes into a config, and `uninstall` takes out. */
const OURS = /^(?:\[handoff\]|\[hook "handoff-[a-z-]+"\]|\t(?:enabled|command|event) = .*)?$/;

/**
 * Whether the lock of a config holds what `init` or `uninstall` were about to put in its place: the same but for lines of
 * ours. Pure.
 *
 * @param config its text
 * @param lock the text of the lock; git, too, makes it empty first
 */
export function isOurConfigLock(config: string, lock: string): boolean {
  if (lock === '' || lock === config) return false;
  return (
    linesBut(lock, config).every((line) => OURS.test(line)) &&
    linesBut(config, lock).every((line) => OURS.test(line))
  );
}

/** The lines of a text that another one has not. */
function linesBut(text: string, other: string): string[] {
  const known = new Set(other.split('\n'));
  return text.split('\n').filter((line) => !known.has(line));
}
