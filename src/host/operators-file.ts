import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Lists the people and agents that notes are written to and by; at the top of the working tree. */
export const OPERATORS_FILE = 'OPERATORS.md';
const MAX_BYTES = 1024 * 1024;

/** Its text; `undefined` where there is none, or it is no ordinary file of a sensible size. */
export function readOperatorsFile(top: string): string | undefined {
  const path = join(top, OPERATORS_FILE);
  try {
    const { size } = statSync(path);
    return size > MAX_BYTES || !statSync(path).isFile() ? undefined : readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
