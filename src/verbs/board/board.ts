import { join, resolve, basename, dirname } from 'node:path';
import { openRepository } from '../../git/repository.ts';
import { isInitialised, repositoryFolder, knownWorktreeId } from '../../host/folders.ts';
import { ownFolder, putPage } from './output.ts';
import type { Board } from '../../ui/board/shape.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { BoardShape } from '../shapes.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { readSettings } from '../../git/config.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { readLog } from '../../host/log.ts';
import { listRefused } from '../../notes/lost.ts';
import { listSessions } from '../../sessions/records.ts';
import { readTopics } from '../../notes/topic.ts';
import { betweenSessions } from './between-sessions.ts';
import { Lanes } from './lanes.ts';
import { type NoteRoom, boardNotes, boardTopics } from './topics.ts';
import { LOOK_COMMITS, MAX_REFUSALS, boardCommits, boardRefusals } from './traces.ts';
import { judgedSessions } from '../workspace.ts';
import { type Rendered, counted } from '../../ui/terminal.ts';

interface BoardOptions {
  /** As typed; `-` is standard output. */
  readonly output: string | undefined;
  /** Makes the page: the user interface's part. */
  readonly compose: (board: Board) => string;
}

/**
 * Writes one page that shows sessions, handoffs, commits and refusals over time.
 *
 * @throws Failure `refused` or `usage` when the file is not ours to replace, `environment` when it cannot be written
 */
export async function board(options: BoardOptions, context: Context): Promise<CommandResult<BoardShape>> {
  const { cwd, now } = context;
  const { commonDir } = await openRepository(cwd);
  const found = await collectBoard(cwd, now);
  const page = Buffer.from(options.compose(found));
  const counts = {
    sessions: found.sessions.length,
    handoffs: found.topics.length,
    refusals: found.refusals.length,
  };
  const value = { ...counts, bytes: page.length };
  if (options.output === '-') return { value: { ...value, file: null }, bytes: page };
  const file =
    options.output === undefined
      ? join(isInitialised(commonDir) ? repositoryFolder(commonDir) : ownFolder(), 'board.html')
      : resolve(cwd, options.output);
  putPage(file, page, { typed: options.output, commonDir });
  return { value: { ...value, file } };
}

const NOTE_ROOM: NoteRoom = { count: 500, bytes: 64 * 1024, total: 1024 * 1024 };

/**
 * Reads all that the board shows. Nothing is changed, no notice is told: whoever looks on must not use up what a
 * session has to be told once.
 *
 * @param now milliseconds since the epoch
 * @throws Failure `environment` outside of a repository
 */
async function collectBoard(cwd: string, now: number): Promise<Board> {
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

/** Where the board is, and how much it shows. */
export function renderBoard({ file, sessions, handoffs, refusals }: BoardShape): Rendered {
  const what = `${counted(sessions, 'session')}, ${counted(handoffs, 'handoff')}, ${counted(refusals, 'refusal')}`;
  return `${escapeLine(file ?? '-')}\n${what}\n`;
}
