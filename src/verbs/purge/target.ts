import { Failure } from '../../domain/failure.ts';
import type { SessionId, Topic } from '../../domain/names.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { readSettingsAndRemotes } from '../../git/config.ts';
import { HANDOFFS, type HandoffPath } from '../../git/namespace.ts';
import { type Repository, committer } from '../../git/repository.ts';
import type { StoredSession } from '../../sessions/records.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { readTopic } from '../../notes/topic.ts';
import { type Context, findCaller, findSession } from '../../sessions/caller.ts';
import { parseTopicArgument, typedTopic } from '../../notes/topic-argument.ts';
import { judgedSessions } from '../workspace.ts';

/** The handoff that is meant, also one that no topic argument can name. */
export interface PurgeTarget {
  readonly path: HandoffPath;
  /** `null`: only the ref is known, its branch is not. */
  readonly branch: string | null;
  /** As it is typed. */
  readonly name: string;
}

/**
 * Parses `[<branch>/]<topic>`, or the full name of a ref, for what has a name of no branch or topic.
 *
 * @throws Failure `usage`
 */
export function parsePurgeTarget(text: string, repository: Repository): PurgeTarget {
  if (!text.startsWith(HANDOFFS)) {
    const { branch, topic, path } = parseTopicArgument(text, repository);
    return { path, branch, name: typedTopic(branch, topic) };
  }
  const [, component, topic] = /^([^/]+)\/(.+)$/s.exec(text.slice(HANDOFFS.length)) ?? [];
  const isName = !/[\p{Cc} ~^:?*[\\]|\.\.|\/\/|\/$/u.test(text);
  if (component === undefined || topic === undefined || !isName) {
    const message = `not the name of a handoff's ref: ${escapeLine(JSON.stringify(text))}`;
    throw new Failure('usage', message, { hint: `git for-each-ref ${HANDOFFS}` });
  }
  return { path: { component, topic: topic as Topic }, branch: null, name: shellWord(text) };
}

/** Whose the note is, and who asks. */
export interface PurgeParties {
  readonly owner: SessionId | undefined;
  /** The same as messages name it. */
  readonly ownerText: string | undefined;
  readonly ownerIsLive: boolean;
  readonly me: SessionId | undefined;
  readonly isPerson: boolean;
  readonly succeeded: readonly SessionId[];
  /** Names of the configured remotes. */
  readonly remotes: ReadonlySet<string>;
  /** Below which refs handoffs stand there. */
  readonly remotePrefix: string;
}

/** Finds out both; a tip that cannot be read has no owner. */
export async function readParties(
  repository: Repository,
  sessions: readonly StoredSession[],
  path: HandoffPath,
  option: string | undefined,
  context: Context,
): Promise<PurgeParties> {
  const session = findSession(context, sessions, option);
  const [author, { settings, remotes }, state] = await Promise.all([
    committer(context.cwd),
    readSettingsAndRemotes(context.cwd),
    readTopic(repository, path).catch((error: unknown) => {
      if (error instanceof Failure) return undefined;
      throw error;
    }),
  ]);
  const owner = state?.tip?.trailers?.owner;
  const judged = judgedSessions({ repository, sessions }, settings, context.now);
  const known = session !== undefined || author.email !== undefined;
  const caller = known ? findCaller(context, sessions, option, author) : undefined;
  return {
    owner,
    ownerText: commitOwner(state?.tip),
    ownerIsLive: judged.some(({ record, liveness }) => record.session === owner && liveness === 'live'),
    me: caller?.id,
    isPerson: caller?.isPerson ?? true,
    succeeded: caller?.succeeded ?? [],
    remotes,
    remotePrefix: settings.remotePrefix,
  };
}
