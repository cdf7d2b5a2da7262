/**
 * Named gates that several scripts share, so that simultaneous sessions take their turns in a fixed order. A gate
 * opens once and stays open.
 */
export interface Gates {
  open(name: string): void;
  /** Resolves to `true` when the gate is open, to `false` when it stays shut for `timeout` milliseconds. */
  wait(name: string, timeout?: number): Promise<boolean>;
}

/** Makes gates, all of them shut. */
export function createGates(): Gates {
  const opened = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();
  return {
    open(name) {
      opened.add(name);
      for (const wake of waiting.get(name) ?? []) wake();
      waiting.delete(name);
    },
    wait(name, timeout = 180_000) {
      if (opened.has(name)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), timeout);
        const wake = (): void => {
          clearTimeout(timer);
          resolve(true);
        };
        waiting.set(name, (waiting.get(name) ?? new Set()).add(wake));
      });
    },
  };
}
