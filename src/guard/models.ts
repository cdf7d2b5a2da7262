import { lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionId } from '../domain/names.ts';
import { entries, readText } from '../host/disk.ts';
import { ensureFolder, removeFile, stateFolder } from '../host/folders.ts';

/*
 * `<state folder>/models/<session>` holds a session's client and model, as a hook last reported it: `Codex:gpt-5.5`. With
 * `handoff.assistedBy` git's hooks put it into its commits.
 */

/** How long to keep the model of a session whose end was never reported. Milliseconds. */
const KEEP_MS = 30 * 86_400_000;

/** Excludes anything that could end a trailer, and ARNs, which contain an account number. */
const MODEL = /^(?!arn:)[A-Za-z0-9][\w.:/@+[\]-]{0,99}$/;

const modelsFolder = (env: NodeJS.ProcessEnv) => join(stateFolder(env), 'models');

/**
 * Records the session's model, if it changed; an empty line if its commits cannot name it.
 *
 * @throws what the file system says
 */
export function noteModel(env: NodeJS.ProcessEnv, session: SessionId, client: string, model: string): void {
  const folder = modelsFolder(env);
  const file = join(folder, session);
  const name = client.slice(0, 1).toUpperCase() + client.slice(1);
  const line = MODEL.test(model) ? `${name}:${model}\n` : '';
  if (readText(file) === line) return;
  ensureFolder(folder);
  writeFileSync(file, line, { mode: 0o600 });
}

/** Deletes the models of a session that ends and of sessions that never reported their end. */
export function forgetModels(env: NodeJS.ProcessEnv, session: SessionId, now: number): void {
  const folder = modelsFolder(env);
  for (const name of entries(folder)) {
    const file = join(folder, name);
    if (name === session || now - lstatSync(file).mtimeMs > KEEP_MS) removeFile(file);
  }
}
