/** The scenarios by kind: every file in scenarios/, in the order of their names. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** @returns {Promise<{ kind: string, scenarios: import('./play.mjs').Scenario[] }[]>} */
export async function kinds() {
  const folder = join(import.meta.dirname, 'scenarios');
  return Promise.all(
    readdirSync(folder)
      .sort()
      .map((file) => import(join(folder, file))),
  );
}
