import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../domain/settings.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Repository } from '../../git/repository.ts';
import { topLevel } from '../../git/repository.ts';
import { repositoryFolder, stateFolder } from '../../host/folders.ts';
import { readLog } from '../../host/log.ts';
import { INSTALLERS, isInUse } from '../../install/clients.ts';
import { isHarmless } from '../../install/guard-command.ts';
import { type RegisteredHook, fireHook, registeredHooks } from '../../install/probe.ts';
import type { Context } from '../context.ts';
import { PROBE_TOOL } from '../probe-tool.ts';
import type { CheckShape } from '../shapes.ts';

/**
 * Fires a harmless call through every registered command line and looks whether the guard saw it. A client
 * without one is a problem when there is no other, else worth a warning where it is in use.
 */
export async function checkClients(
  repository: Repository,
  settings: Settings,
  context: Context,
  packageRoot: string,
): Promise<CheckShape[]> {
  const launcher = join(packageRoot, 'bin', 'git-handoff');
  const places = {
    home: context.env['HOME'] ?? homedir(),
    env: context.env,
    cwd: context.cwd,
    topLevel: await topLevel(repository),
  };
  const found = INSTALLERS.map((installer) => ({ installer, hooks: registeredHooks(installer, places) }));
  const isGuarded = found.some(({ hooks }) => hooks.length > 0);
  const checks: CheckShape[] = [];
  for (const { installer, hooks } of found) {
    const check = `hooks (${installer.client})`;
    checks.push(...hooks.map((hook) => ({ check, ...reach(hook, repository, context, launcher) })));
    const isDefault = installer === INSTALLERS[0] && !isGuarded;
    if (hooks.length > 0 || !(isDefault || (await isInUse(installer, places)))) continue;
    const detail = 'not registered: this client runs unguarded';
    const hint = `git handoff init --client ${installer.client}`;
    const status = isDefault && settings.enabled === true ? 'problem' : 'warning';
    checks.push({ check, status, detail, hint });
  }
  return checks;
}

function reach(
  hook: RegisteredHook,
  repository: Repository,
  context: Context,
  launcher: string,
): Pick<CheckShape, 'status' | 'detail' | 'hint'> {
  if (!isHarmless(hook, launcher)) {
    return {
      status: 'warning',
      detail: `the command in ${escapeLine(hook.file)} is not what git-handoff writes there: it was not tried`,
      hint: 'git handoff init',
    };
  }
  const nonce = randomBytes(8).toString('hex');
  const payload = {
    hook_event_name: 'PreToolUse',
    session_id: 'doctor',
    cwd: context.cwd,
    tool_name: PROBE_TOOL,
    tool_input: {},
  };
  const { status } = fireHook(hook, payload, {
    cwd: context.cwd,
    env: { ...context.env, GIT_HANDOFF_PROBE: nonce },
  });
  const folders = [repositoryFolder(repository.commonDir), stateFolder(context.env)];
  if (status === 0 && folders.some((folder) => readLog(folder).includes(nonce))) {
    return { status: 'ok', detail: `the guard is reached from ${hook.file}`, hint: null };
  }
  const why =
    context.env['GIT_HANDOFF'] === 'off' ? 'GIT_HANDOFF=off is set' : `exit status ${status ?? 'none'}`;
  return {
    status: 'problem',
    detail: `the command in ${hook.file} does not reach the guard (${why}): calls pass unguarded`,
    hint: 'git handoff init',
  };
}
