import { basename, dirname } from 'node:path';
import { escapeLine } from '../../domain/surfacing.ts';
import { readSettings } from '../../git/config.ts';
import { openRepository } from '../../git/repository.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { isInitialised, knownWorktreeId, repositoryFolder } from '../../host/folders.ts';
import { readLog } from '../../host/log.ts';
import { listRefused } from '../../notes/lost.ts';
import { listSessions } from '../../sessions/records.ts';
import { readTopics } from '../../notes/topic.ts';
import { betweenSessions } from './between-sessions.ts';
import { Lanes } from './lanes.ts';
import type { Board } from '../../ui/board/shape.ts';
import { type NoteRoom, boardNotes, boardTopics } from './topics.ts';
import { LOOK_COMMITS, MAX_REFUSALS, boardCommits, boardRefusals } from './traces.ts';
import { judgedSessions } from '../workspace.ts';

const NOTE_ROOM: NoteRoom = { count: 500, bytes: 64 * 1024, total: 1024 * 1024 };

/**
 * Reads all that the board shows. Nothing is changed, no notice is told: whoever looks on must not use up what a
 * session has to be told once.
 *
 * @param now milliseconds since the epoch
 * @throws Failure `environment` outside of a repository
 */
export async function collectBoard(cwd: string, now: number): Promise<Board> {
  const repository = await openRepository(cwd);
  const { commonDir } = repository;
  const [states, sessions, settings, worktrees] = await Promise.all([
    readTopics(repository),
    listSessions(repository),
    readSettings(cwd),
    listWorktrees({ cwd }),
  ]);
  const judged = judgedSessions({ repository, sessions }, settings, now);
  const lanes = new Lanes(judged, now);
  const { topics, complete: allVersions } = await boardTopics(repository, states, lanes);
  const [{ commits, complete: allCommits }, notes, between] = await Promise.all([
    boardCommits(repository, lanes),
    boardNotes(repository, topics, NOTE_ROOM),
    betweenSessions(worktrees, { commonDir, sessions: judged, lanes, now }),
  ]);
  const log = readLog(repositoryFolder(commonDir));
  const refused = await listRefused(repository);
  const { refusals, complete: allRefusals } = boardRefusals(log, lanes, refused);
  const places = new Map(
    worktrees.flatMap((worktree) => {
      const id = knownWorktreeId(worktree.gitDir);
      return id === undefined ? [] : [[id, worktree] as const];
    }),
  );
  const versions = topics.reduce((sum, topic) => sum + topic.versions.length, 0);
  const held = Object.keys(notes).length;
  return {
    v: 1,
    repository: escapeLine(nameOf(commonDir)),
    at: now,
    initialised: isInitialised(commonDir),
    sessions: lanes.sessions(places),
    topics,
    commits,
    refusals,
    ...between,
    notes,
    limits: [
      ...(allVersions ? [] : ['Older versions of handoffs are left out, or could not be read.']),
      ...(allCommits ? [] : [`Commits are those among the newest ${LOOK_COMMITS} of all branches.`]),
      ...(allRefusals ? [] : [`Refusals are the newest ${MAX_REFUSALS}.`]),
      ...(held === versions
        ? []
        : [`Texts of ${held} of ${versions} notes are in this page, the newest ones.`]),
    ],
  };
}

/** The folder that people know the repository by. */
function nameOf(commonDir: string): string {
  const name = basename(commonDir);
  return name === '.git' ? basename(dirname(commonDir)) : name.replace(/\.git$/, '');
}
