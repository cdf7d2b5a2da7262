/** The scenarios by kind: every file in scenarios/, in the order of their numbers. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** @returns {Promise<{ kind: string, scenarios: import('./play.mjs').Scenario[] }[]>} */
export async function kinds() {
  const folder = join(import.meta.dirname, 'scenarios');
  return Promise.all(
    readdirSync(folder)
      .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
      .map(async (file) => {
        const { kind, scenarios } = await import(join(folder, file));
        if (kind === undefined || scenarios === undefined)
          throw new Error(`bench/proof/scenarios/${file} exports no "kind" and "scenarios"`);
        return { kind, scenarios };
      }),
  );
}
