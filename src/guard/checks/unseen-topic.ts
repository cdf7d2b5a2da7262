import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HANDOFFS } from '../../git/namespace.ts';
import { listRefs } from '../../git/refs.ts';
import { ensureFolder, repositoryFolder } from '../../host/folders.ts';
import { randomName } from '../../host/random-name.ts';
import type { Call, TreeCall } from '../call.ts';
import type { AnalysedFacts } from '../facts.ts';
import type { Finding } from '../findings.ts';

/**
 * Sub-agents share their session's id, so ownership cannot tell them apart. The guard remembers which
 * tips each of them has seen: when it started, and whenever it ran a `git handoff` command.
 */

/** Remembers the tips that the calling sub-agent sees now. */
export async function rememberTips(call: TreeCall): Promise<void> {
  const file = tipsFile(call);
  if (file === undefined) return;
  const refs = await listRefs({ cwd: call.tree.folder }, [HANDOFFS], {
    content: false,
    timeoutMs: call.budget.left(),
  });
  ensureFolder(dirname(file));
  const temporary = `${file}.${randomName()}`;
  writeFileSync(temporary, JSON.stringify(Object.fromEntries(refs.map((ref) => [ref.name, ref.oid]))));
  renameSync(temporary, file);
}

/** Refuses a sub-agent's write of a topic whose tip moved since it last saw it. */
export async function unseenTopic(call: Call, facts: AnalysedFacts): Promise<readonly Finding[]> {
  const seen = seenTips(call);
  const writes = facts.effects.handoffCalls.filter(({ verb }) => verb === 'write');
  if (seen === undefined || writes.length === 0) return [];
  const git = await facts.git();
  for (const { cwd, words } of writes) {
    for (const word of words) {
      if (word === undefined || word.startsWith('-')) continue;
      const tip = await git.topic(cwd, word);
      if (tip === undefined || seen[tip.ref] === tip.oid) continue;
      return [{ kind: 'refuse', text: unseenRefusal(tip.name), owners: [], lift: 'person' }];
    }
  }
  return [];
}

function unseenRefusal(name: string): string {
  return (
    `${name} moved since this sub-agent last saw it; its text would replace one it has not read. ` +
    `Read it first: git handoff show ${name}; then write again.`
  );
}

function seenTips(call: Call): Readonly<Record<string, string>> | undefined {
  const file = tipsFile(call);
  if (file === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch {
    return undefined;
  }
}

/** One small file a sub-agent; ids that are no plain words get none. */
function tipsFile({ event, session, tree }: Call): string | undefined {
  if (tree === undefined || session === undefined || event.agent === undefined) return undefined;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(event.agent)) return undefined;
  return join(repositoryFolder(tree.commonDir), 'agents', `${session}.${event.agent}.json`);
}
