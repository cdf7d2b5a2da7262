import { claude } from './claude.ts';
import { codex } from './codex.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini.ts';

const DIALECTS: readonly Dialect[] = [claude, codex, gemini];

/** The dialect that a registered command line names with `--client`; Claude's is the common shape. */
export function dialectFor(client: string | undefined): Dialect {
  return DIALECTS.find((dialect) => dialect.client === client) ?? claude;
}
