import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Repository } from '../../git/repository.ts';
import { repositoryFolder, stateFolder } from '../../host/folders.ts';
import { readLog } from '../../host/log.ts';
import { type ClientInstaller, testedWith } from '../../install/client.ts';
import { type RegisteredHook, fireHook } from '../../install/probe.ts';
import { isExecutable, programsOnPath } from '../../install/programs.ts';
import type { Context } from '../../sessions/caller.ts';
import { PROBE_TOOL } from '../../install/probe-tool.ts';
import type { CheckShape } from '../shapes.ts';

/** What a call is fired with. */
export interface Reach {
  readonly repository: Repository;
  readonly context: Context;
  /** Our own launcher. */
  readonly launcher: string;
}

/**
 * Fires a call through a registered command line and looks whether the guard logged it, under the client's name.
 *
 * @param init the command that mends it
 */
export function reachGuard(
  hook: RegisteredHook,
  installer: ClientInstaller,
  { repository, context }: Reach,
  init: string,
): Pick<CheckShape, 'status' | 'detail' | 'hint'> {
  const nonce = randomBytes(8).toString('hex');
  const payload = installer.probe({
    session: 'doctor',
    cwd: context.cwd,
    tool_name: PROBE_TOOL,
    tool_input: {},
  });
  const { status, shell } = fireHook(hook, installer, payload, {
    cwd: context.cwd,
    env: { ...context.env, GIT_HANDOFF_PROBE: nonce },
  });
  const folders = [repositoryFolder(repository.commonDir), stateFolder(context.env)];
  const lines = folders.flatMap((folder) => readLog(folder).split('\n'));
  const logged = lines.find((line) => line.includes(nonce));
  const file = escapeLine(hook.file);
  if (status === 0 && logged?.includes(`"client":"${hook.client}"`) === true) {
    const note = installer.note === undefined ? '' : `; ${installer.note}`;
    const detail = `the guard is reached from ${file}; ${testedWith(installer)}${note}`;
    return { status: 'ok', detail, hint: null };
  }
  const why =
    reason(hook, context.env) ??
    (logged === undefined ? exitReason(status, shell) : 'read as another client');
  const detail = `the command in ${file} does not reach the guard (${why}): calls pass unguarded`;
  return { status: 'problem', detail, hint: init };
}

function exitReason(status: number | null, shell: string): string {
  return `exit status ${status ?? 'none'} of ${escapeLine(shell)}`;
}

/** What is known to make the command end silently. */
function reason(hook: RegisteredHook, env: NodeJS.ProcessEnv): string | undefined {
  if (env['GIT_HANDOFF'] === 'off') return 'GIT_HANDOFF=off is set';
  const quoted = /^p='((?:[^']|'\\'')*)'; \[ -x/.exec(hook.command)?.[1];
  if (quoted !== undefined) return launcherReason(quoted.replaceAll("'\\''", "'"));
  const [first] = programsOnPath(env);
  if (first === undefined) return 'git-handoff is not on PATH';
  if (!first.isOurs) return `${escapeLine(first.path)}, the first git-handoff on PATH, is another program`;
  return hook.client === 'codex' ? 'perhaps your login shell sets a PATH without git-handoff' : undefined;
}

function launcherReason(path: string): string | undefined {
  if (isExecutable(path)) return undefined;
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere
    ? `${escapeLine(path)} is not executable`
    : `the package is not at ${escapeLine(path)} any more`;
}
