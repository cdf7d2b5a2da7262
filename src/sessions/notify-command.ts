import type { Happening } from '../domain/journal/happenings.ts';
import { readOwnSetting } from '../git/config.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { startInBackground } from '../host/background.ts';
import { realPath } from '../host/disk.ts';
import { repositoryFolder } from '../host/folders.ts';
import { appendLog } from '../host/log.ts';
import { readClients } from './records.ts';

/** So much any system takes before somebody reads it: nobody waits for the program. */
const MAX_PATHS = 20;

/**
 * `handoff.notifyCommand`: a program of the person's own, run in the background for each happening, with JSON on its standard
 * input. Whoever can name a program in it runs that, so a file which a clone brings along does not count.
 */
export async function runNotifyCommand(
  commonDir: string,
  happenings: readonly Happening[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // Of what the program itself does it need not hear.
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

/** Whether a file is one of the repository: in its folder, or in a working tree. */
function insideOf(commonDir: string): (file: string) => boolean {
  const folders = [commonDir, ...linkedWorktrees(commonDir).map(({ path }) => path)];
  const own = folders.map((folder) => `${realPath(folder)}/`);
  return (file) => own.some((folder) => realPath(file).startsWith(folder));
}

/** What a hook of git sets would mislead a git of the program. */
const withoutGit = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries([
    ...Object.entries(env).filter(([name]) => !name.startsWith('GIT_')),
    ['GIT_HANDOFF', 'off'],
  ]);
