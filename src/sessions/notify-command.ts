import type { Happening } from '../domain/journal/happenings.ts';
import { readOwnSetting } from '../git/config.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { startInBackground } from '../host/background.ts';
import { realPath } from '../host/disk.ts';
import { repositoryFolder } from '../host/folders.ts';
import { appendLog } from '../host/log.ts';
import { readClients } from './records.ts';

/** A report with this many paths fits into any system's pipe, so that nobody waits for the program to read it. */
const MAX_PATHS = 20;

/**
 * Runs `handoff.notifyCommand`, the user's own program, in the background for each happening, with JSON on its standard
 * input. A setting in a file of the repository does not count: a clone may bring it along, and it can run any program.
 */
export async function runNotifyCommand(
  commonDir: string,
  happenings: readonly Happening[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // The program need not hear of what it does itself.
  if (env['GIT_HANDOFF'] === 'off') return;
  const repository = commonDir.replace(/\/\.git$/, '');
  const program = await readOwnSetting('handoff.notifyCommand', repository, insideOf(commonDir));
  if (program === undefined || program === '') return;
  const log = (detail: string) =>
    appendLog(repositoryFolder(commonDir), { event: 'notify', kind: 'open', detail });
  if (!program.startsWith('/')) {
    log(`handoff.notifyCommand is no absolute path: ${program}`);
    return;
  }
  const clients = await readClients({ cwd: repository });
  for (const { session, paths, message, at, ...what } of happenings) {
    const report = {
      ...what,
      session,
      client: (session === null ? undefined : clients.get(session)) ?? null,
      ...(paths === undefined ? {} : { paths: paths.slice(0, MAX_PATHS) }),
      message: message({ clients }),
      repository,
      time: new Date(at).toISOString(),
    };
    if (!startInBackground(program, `${JSON.stringify(report)}\n`, withoutGit(env)))
      log(`handoff.notifyCommand could not be started: ${program}`);
  }
}

/** Returns a test whether a file is in the repository's folder or in one of its working trees. */
function insideOf(commonDir: string): (file: string) => boolean {
  const folders = [commonDir, ...linkedWorktrees(commonDir).map(({ path }) => path)];
  const own = folders.map((folder) => `${realPath(folder)}/`);
  return (file) => own.some((folder) => realPath(file).startsWith(folder));
}

/** Drops the variables that git sets for its hooks: they would mislead a git that the program runs. */
const withoutGit = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries([
    ...Object.entries(env).filter(([name]) => !name.startsWith('GIT_')),
    ['GIT_HANDOFF', 'off'],
  ]);
