import { BYPASS_TTL_MS } from '../../domain/bypass.ts';
import { escapeLine, Failure, timestamp } from '../../domain/messages.ts';
import { type SessionId, peerName } from '../../domain/names.ts';
import { openRepository } from '../../git/repository.ts';
import { isInitialised, repositoryFolder } from '../../host/folders.ts';
import { appendLog } from '../../host/log.ts';
import { putToken } from '../../sessions/bypass.ts';
import { type StoredSession, clientsOf, listSessions } from '../../sessions/records.ts';
import { type Context, sessionMeant } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import type { AllowShape } from '../shapes.ts';

interface AllowOptions {
  readonly once: boolean;
  /** The session whose next refused action is to go through: its id, or the short id that `sessions` shows. */
  readonly session: string | undefined;
  /** Asks the person at the terminal; `undefined`: there is no terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

/**
 * Lets one action through that the guard or git hooks would refuse. Only a person can do so: a session's shell has no terminal.
 *
 * @throws Failure `usage` without a terminal, `refused` when the answer is not "yes"
 */
export async function allow(options: AllowOptions, context: Context): Promise<CommandResult<AllowShape>> {
  const { ask } = options;
  if (!options.once) {
    throw new Failure('usage', 'only one refusal at a time can be allowed', {
      hint: 'git handoff allow --once',
    });
  }
  if (ask === undefined) {
    throw new Failure('usage', 'only a person can type this, in a terminal of their own');
  }
  const { commonDir } = await openRepository(context.cwd);
  if (!isInitialised(commonDir)) {
    throw new Failure('not-found', 'git-handoff is not switched on in this repository', {
      hint: 'git handoff init',
    });
  }
  const sessions = await listSessions({ cwd: context.cwd });
  const session = chosen(options.session, sessions);
  const clients = clientsOf(sessions);
  const whose =
    session === undefined ? 'of whichever session is refused first' : `of ${peerName(session, { clients })}`;
  const question = `The next refused action ${whose} will go through if it comes within 10 minutes, even if it changes or commits the work of others.\nType yes to allow it once: `;
  if ((await ask(question)).trim() !== 'yes') {
    throw new Failure('refused', 'nothing was allowed', { hint: 'git handoff allow --once' });
  }
  // The person may have taken a while to answer.
  const now = Math.max(context.now, context.clock());
  putToken(commonDir, { v: 1, session: session ?? null, at: now });
  appendLog(repositoryFolder(commonDir), {
    event: 'allow',
    ...(session === undefined ? {} : { session }),
    kind: 'allow',
    detail: `a person allows one refusal ${whose} until ${timestamp(now + BYPASS_TTL_MS)}`,
  });
  return { value: { session: session ?? null, until: timestamp(now + BYPASS_TTL_MS) }, clients };
}

function chosen(text: string | undefined, sessions: readonly StoredSession[]): SessionId | undefined {
  if (text === undefined) return undefined;
  const known = sessions.filter(({ record }) => record.ended === null).map(({ record }) => record.session);
  const meant = sessionMeant(text, known);
  if (meant !== undefined) return meant;
  throw new Failure('not-found', `no session is on record as ${escapeLine(text)}`, {
    hint: 'git handoff sessions',
  });
}
