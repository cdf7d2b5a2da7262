import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import type { HandoffCall } from '../../shell/effects.ts';
import { HANDOFFS, handoffRef } from '../../git/namespace.ts';
import { listRefs } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { ensureFolder, repositoryFolder } from '../../host/folders.ts';
import { parseTopicArgument, typedTopic } from '../../notes/topic-argument.ts';
import { unseenRefusal } from '../refusals.ts';
import type { Scene } from '../scene.ts';

/**
 * Sub-agents share their session's id, so ownership cannot tell them apart. The guard remembers which
 * tips each of them has seen: when it started, and whenever it ran a `git handoff` command.
 */

/** Remembers the tips that the calling sub-agent sees now. */
export async function rememberTips(scene: Scene): Promise<void> {
  const file = tipsFile(scene);
  if (file === undefined) return;
  const refs = await listRefs({ cwd: scene.folder }, [HANDOFFS], {
    content: false,
    timeoutMs: scene.budget.left(),
  });
  ensureFolder(dirname(file));
  const temporary = `${file}.${randomUUID()}`;
  writeFileSync(temporary, JSON.stringify(Object.fromEntries(refs.map((ref) => [ref.name, ref.oid]))));
  renameSync(temporary, file);
}

/** Refuses a sub-agent's write of a topic whose tip moved since it last saw it. */
export async function checkAgentWrites(
  scene: Scene,
  calls: readonly HandoffCall[],
): Promise<Verdict | undefined> {
  const seen = seenTips(scene);
  const writes = calls.filter((call) => call.verb === 'write');
  if (seen === undefined || writes.length === 0) return undefined;
  for (const call of writes) {
    const repository = await openRepository(call.cwd);
    for (const word of call.words) {
      if (word === undefined || word.startsWith('-')) continue;
      const target = topicOf(word, repository);
      if (target === undefined) continue;
      const [ref] = await listRefs(repository, [handoffRef(target.path)]);
      if (ref !== undefined && seen[ref.name] !== ref.oid) {
        return { kind: 'deny', reason: unseenRefusal(typedTopic(target.branch, target.topic)), owners: [] };
      }
    }
  }
  return undefined;
}

function topicOf(word: string, repository: Awaited<ReturnType<typeof openRepository>>) {
  try {
    return parseTopicArgument(word, repository);
  } catch {
    return undefined;
  }
}

function seenTips(scene: Scene): Readonly<Record<string, string>> | undefined {
  const file = tipsFile(scene);
  if (file === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch {
    return undefined;
  }
}

/** One small file a sub-agent; ids that are no plain words get none. */
function tipsFile({ event, place }: Scene): string | undefined {
  if (place === undefined || event.session === undefined || event.agent === undefined) return undefined;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(event.agent)) return undefined;
  return join(repositoryFolder(place.commonDir), 'agents', `${event.session}.${event.agent}.json`);
}
