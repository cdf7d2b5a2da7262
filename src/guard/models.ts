import { lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import { entries, readText } from '../host/disk.ts';
import { ensureFolder, removeFile, stateFolder } from '../host/folders.ts';
import { type Call, isInTree } from './call.ts';

/*
 * `<state folder>/models/<session>` holds a session's client and model, as a hook last reported it: `Codex:gpt-5.5`. With
 * `handoff.assistedBy` git's hooks put it into its commits. The launcher starts Node when a payload names another model.
 */

/** How long to keep the model of a session whose end was never reported. Milliseconds. */
const KEEP_MS = 30 * 86_400_000;

/** Excludes anything that could end a trailer, and ARNs, which contain an account number. */
const MODEL = /^(?!arn:)[A-Za-z0-9][\w.:/@+[\]-]{0,99}$/;

const modelsFolder = (env: NodeJS.ProcessEnv) => join(stateFolder(env), 'models');

/** Records the session's model, if it changed; an empty line if its commits cannot name it. */
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

/** Deletes the models of a session that ends and of sessions that never reported their end. */
export function forgetModels(env: NodeJS.ProcessEnv, session: SessionId, now: number): void {
  const folder = modelsFolder(env);
  for (const name of entries(folder)) {
    const file = join(folder, name);
    if (name === session || now - lstatSync(file).mtimeMs > KEEP_MS) removeFile(file);
  }
}
