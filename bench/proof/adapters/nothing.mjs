/** No tool: several sessions in one checkout, and one HANDOFF.md. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quote } from '../world.mjs';

/** @type {import('../adapter.mjs').Adapter} */
export const adapter = {
  name: 'nothing',
  commit: ({ message, paths }) =>
    `git add -- ${paths.map(quote).join(' ')} && git commit -q -m ${quote(message)} -- ${paths.map(quote).join(' ')}`,
  // As in the reports: each session writes the whole file from what it knows.
  note: ({ text }) => ({ command: `cat >HANDOFF.md <<'EOF'\n${text}\nEOF` }),
  readableNotes: (world, checkouts) =>
    checkouts
      .map((checkout) => join(checkout, 'HANDOFF.md'))
      .flatMap((file) => (existsSync(file) ? [readFileSync(file, 'utf8')] : [])),
};
