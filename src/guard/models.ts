import { lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import { entries, readText } from '../host/disk.ts';
import { ensureFolder, removeFile, stateFolder } from '../host/folders.ts';
import { type Call, isInTree } from './call.ts';

/*
 * `<state folder>/models/<session>` holds a session's client and model, as a hook last told it: `Codex:gpt-5.5`. Git's hooks
 * put that into its commits where `handoff.assistedBy` says so; the launcher asks Node when it hears of another model.
 */

/** Of sessions that have never said that they end. Milliseconds. */
const KEEP_MS = 30 * 86_400_000;

/** Nothing that could end a trailer; and no ARN, which holds the number of an account. */
const MODEL = /^(?!arn:)[A-Za-z0-9][\w.:/@+[\]-]{0,99}$/;

const modelsFolder = (env: NodeJS.ProcessEnv) => join(stateFolder(env), 'models');

/** Notes which model the session uses. What its commits could not name is not noted, nor what was known before. */
export function noteModel(call: Call): void {
  if (!isInTree(call)) return;
  const { dialect, event, machine, session, log } = call;
  const model = event.model ?? '';
  const folder = modelsFolder(machine.env);
  const file = join(folder, session);
  const client = dialect.client.slice(0, 1).toUpperCase() + dialect.client.slice(1);
  const line = MODEL.test(model) ? `${client}:${model}\n` : '';
  if (readText(file) === line) return;
  try {
    ensureFolder(folder);
    writeFileSync(file, line, { mode: 0o600 });
  } catch (error) {
    log('open', `the model was not noted: ${String(error)}`);
  }
}

/** Forgets the model of a session that ends, and those of long ago. */
export function forgetModels(env: NodeJS.ProcessEnv, session: SessionId, now: number): void {
  const folder = modelsFolder(env);
  for (const name of entries(folder)) {
    const file = join(folder, name);
    if (name === session || now - lstatSync(file).mtimeMs > KEEP_MS) removeFile(file);
  }
}
