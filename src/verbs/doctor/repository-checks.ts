import { statSync } from 'node:fs';
import { join } from 'node:path';
import { shortId } from '../../domain/names.ts';
import { type Settings, unknownValueText } from '../../domain/settings.ts';
import { type Committer, type Repository, requireVersion } from '../../git/repository.ts';
import { git } from '../../git/run.ts';
import { repositoryFolder, stateFolder } from '../../host/folders.ts';
import { LOG_FILE, readLog } from '../../host/log.ts';
import { foldTopic, healTopic, recordIllegalMove } from '../../notes/illegal-moves.ts';
import { reasonText } from '../../notes/report-illegal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { TopicState } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './finding.ts';

/** git is there and new enough. */
export async function checkGit(cwd: string): Promise<CheckShape[]> {
  const version = (await git(['--version'], { cwd })).trim();
  requireVersion(version);
  return [doctorLine('git', 'ok', version)];
}

/** `init` ran here, and git knows the person's e-mail address. */
export function checkInit(repository: Repository, settings: Settings, person: Committer): CheckShape[] {
  const enabled =
    settings.enabled === true
      ? doctorLine('enabled', 'ok', 'handoff.enabled is true')
      : doctorLine(
          'enabled',
          'warning',
          'sessions are not registered in this repository',
          'git handoff init',
        );
  const folder = statSync(repositoryFolder(repository.commonDir), { throwIfNoEntry: false }) !== undefined;
  const found = [
    enabled,
    ...settings.unknown.map((one) => doctorLine('settings', 'warning', unknownValueText(one))),
  ];
  if (settings.enabled === true && !folder) {
    found.push(
      doctorLine(
        'folder',
        'problem',
        `${repositoryFolder(repository.commonDir)} is missing`,
        'git handoff init',
      ),
    );
  }
  if (person.email === undefined) {
    found.push(
      doctorLine(
        'identity',
        'warning',
        'git knows no e-mail address: people cannot write notes',
        'git config user.email you@example.com',
      ),
    );
  }
  return found;
}

/** Public refs follow from what was kept; with `fix` the others are put back. */
export async function checkRefs(
  repository: Repository,
  states: readonly TopicState[],
  fix: boolean,
  now: number,
): Promise<CheckShape[]> {
  const found: CheckShape[] = [];
  for (const state of states) {
    const name = typedTopic(state.branch, state.topic);
    if (state.illegal === undefined) {
      if (fix && state.publicOid !== state.keptOid) await foldTopic(repository, state);
      continue;
    }
    const { reason, bad } = state.illegal;
    const detail = `${name} was moved by hand (${reasonText(reason)}) to ${bad === undefined ? 'nothing' : shortId(bad)}`;
    if (!fix) {
      found.push(doctorLine('refs', 'problem', detail, FIX));
      continue;
    }
    await recordIllegalMove(repository, state, now);
    const healed = (await healTopic(repository, state)).kind === 'done';
    found.push(
      healed
        ? doctorLine('refs', 'fixed', `${detail}; put back. What was there: git handoff show ${name} --lost`)
        : doctorLine('refs', 'problem', `${detail}; it moved again meanwhile`, FIX),
    );
  }
  return found.length > 0
    ? found
    : [doctorLine('refs', 'ok', `${counted(states.length, 'handoff')}, none moved by hand`)];
}

const RECENT_LINES = 500;

/** What the guard logged lately: refusals are its work, errors are ours. */
export function checkHookLog(repository: Repository, context: Context): CheckShape[] {
  const folders = [repositoryFolder(repository.commonDir), stateFolder(context.env)];
  const lines = folders.flatMap((folder) =>
    readLog(folder).trimEnd().split('\n').filter(Boolean).slice(-RECENT_LINES),
  );
  const count = (kind: RegExp) => lines.filter((line) => kind.test(line)).length;
  const failures = count(/"kind":"(?:error|open|failed-open)"/);
  const denials = count(/"kind":"deny"/);
  const detail = `${counted(denials, 'refusal')} and ${counted(failures, 'call')} let through because of an error, in the last ${counted(lines.length, 'line')}`;
  if (failures === 0) return [doctorLine('log', 'ok', detail)];
  return [doctorLine('log', 'warning', detail, `tail ${join(folders[0] ?? '', LOG_FILE)}`)];
}
