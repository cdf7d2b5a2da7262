import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../host/io.ts';

/**
 * Asks at the terminal; what was typed, or nothing at the end of the input. A file of its own, so that readline is loaded
 * only then: `import()` of a builtin throws in code that V8 took from the cache (start.ts), `import()` of ours is a `require`.
 */
export async function askAtTerminal(question: string, terminal: Terminal): Promise<string> {
  const lines = createInterface({ input: terminal.input(), output: terminal.output() });
  try {
    // At the end of the input (^D) there is no answer, and a question would wait for ever.
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return await Promise.race([lines.question(question), closed]);
  } finally {
    lines.close();
  }
}
