import type { Verdict } from '../agents/dialect.ts';
import type { BypassKey } from '../domain/bypass.ts';
import { type SessionId, shortId } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { consumeBypass, dropAbandonedBypasses, endBypass, readConsumed } from '../sessions/bypass.ts';
import { changedCopies, forgetCopy, listCopies, rememberFiles } from '../notes/guarded-files.ts';
import { toolPaths } from './tool-paths.ts';
import { windowId } from './window-id.ts';
import type { Scene } from './scene.ts';
import { tellOwners } from '../changes/tell-owners.ts';
import { ALLOW } from './verdicts.ts';

type Decide = (scene: Scene) => Promise<Verdict>;
type CallKey = Extract<BypassKey, { kind: 'call' }>;

/**
 * Decides a guard call where a person has left a bypass, or one is in use: a refusal is lifted for this one tool call.
 * Loaded only then.
 */
export async function decideWithBypass(scene: Scene, decide: Decide): Promise<Verdict> {
  const { event, place, now } = scene;
  const { session } = event;
  if (session === undefined || place === undefined) return decide(scene);
  const { commonDir } = place;
  const key: CallKey = { kind: 'call', id: windowId(scene), agent: event.agent ?? '' };
  switch (event.kind) {
    case 'before-tool':
      dropAbandonedBypasses(commonDir, session, key, now);
      return beforeCall(scene, session, key, decide);
    case 'after-tool':
      return afterCall(scene, session, key, decide);
    case 'session-start':
    case 'session-end':
    case 'stop':
      // The turn is over, and with it every call.
      endBypass(commonDir, session, undefined, now);
      return decide(scene);
    default:
      return decide(scene);
  }
}

async function beforeCall(scene: Scene, session: SessionId, key: CallKey, decide: Decide): Promise<Verdict> {
  const { place, now, event, settings } = scene;
  const verdict = await decide(scene);
  if (verdict.kind !== 'deny' || verdict.isFinal === true || place === undefined) return verdict;
  const { reason, owners, aboutFiles: files = false } = verdict;
  const lifted = consumeBypass(place.commonDir, { session, key, files, now });
  if (lifted === undefined) return verdict;
  scene.log('bypass', `let through: ${event.toolName ?? ''}: ${reason}`);
  if (lifted === 'now') {
    const text = `A person let session ${shortId(session)} do once what is refused otherwise: ${deed(scene)}. To see what became of it: git handoff status`;
    const done = { ...place, cwd: place.workTree, session, owners, text, now };
    await tellOwners({ ...done, timeoutMs: scene.budget.left() }).catch((error: unknown) => {
      scene.log('error', `nobody was told of the bypass: ${String(error)}`);
    });
  }
  // Once more, so that everything that comes before an allowed call is done: the ledger, a rescue.
  const again = await decide({ ...scene, lifted: true, settings: { ...settings, contention: 'off' } });
  return again.kind === 'deny' && again.isFinal !== true ? ALLOW : again;
}

async function afterCall(scene: Scene, session: SessionId, key: CallKey, decide: Decide): Promise<Verdict> {
  const commonDir = scene.place?.commonDir ?? '';
  const used = readConsumed(commonDir, session).find(
    (one) => one.key.kind === 'call' && one.key.id === key.id,
  );
  try {
    // What it did to handoff files is no change that nobody foresaw.
    if (used?.files === true) await acceptChanges(scene.folder);
    return await decide(scene);
  } finally {
    endBypass(commonDir, session, key.id, scene.now);
  }
}

async function acceptChanges(cwd: string): Promise<void> {
  const repository = { cwd };
  for (const copy of await changedCopies(repository, await listCopies(repository))) {
    await rememberFiles(cwd, [copy.path]);
  }
  // What is missing still after that is gone.
  for (const copy of await changedCopies(repository, await listCopies(repository))) {
    await forgetCopy(repository, copy);
  }
}

const MAX_DEED = 160;

/** What the tool call is, in one line. */
function deed({ event }: Scene): string {
  const { tool, toolName = 'a tool' } = event;
  if (tool === undefined) return escapeLine(toolName);
  const text =
    tool.kind === 'shell'
      ? tool.command
      : tool.kind === 'argv'
        ? tool.argv.join(' ')
        : toolPaths(tool).join(', ');
  const line = escapeLine(text.replaceAll('\n', ' '));
  return `${escapeLine(toolName)} ${line.length > MAX_DEED ? `${line.slice(0, MAX_DEED)}…` : line}`;
}
