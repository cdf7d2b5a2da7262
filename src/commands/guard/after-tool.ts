import type { ToolCall, Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { HANDOFFS, KEPT } from '../../git/namespace.ts';
import { listRefs } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { rememberFiles } from '../../store/guarded-files.ts';
import { readTopics } from '../../store/topic.ts';
import { checkGuardedFiles } from '../guarded-files.ts';
import { reportIllegalMoves } from '../report-illegal.ts';
import { toolPath, toolPaths } from './before-tool.ts';
import { headVerdict } from './ledger/strict-head.ts';
import type { Scene } from './scene.ts';
import { rememberTips } from './sub-agents.ts';

/**
 * Looks afterwards at what could not be told before: refs that were moved by hand, handoff files that
 * were changed unseen. Remembers guarded files that the session wrote, and what its sub-agent has seen.
 */
export async function afterTool(scene: Scene, session: SessionId): Promise<Verdict> {
  const { tool } = scene.event;
  if (tool === undefined) return { kind: 'allow' };
  const paths = toolPaths(tool).flatMap((path) => scene.files.reachedBy(toolPath(scene, path), true) ?? []);
  if (paths.length > 0) await rememberFiles(scene.cwd, paths);
  if (tool.kind !== 'shell' && tool.kind !== 'argv') return afterFileTool(scene, session, tool);
  const command = tool.kind === 'shell' ? tool.command : tool.argv.join(' ');
  if (scene.event.agent !== undefined && command.includes('handoff')) await rememberTips(scene);
  const [around, ledger] = await Promise.all([lookAround(scene, session), afterShellTool(scene, session)]);
  const notices = [...around, ...ledger];
  if (/handoff-/.test(command)) await rememberFiles(scene.cwd, scene.files.all());
  return notices.length === 0
    ? { kind: 'allow' }
    : { kind: 'context', text: `git-handoff: ${notices.join('\n')}` };
}

async function afterFileTool(scene: Scene, session: SessionId, tool: ToolCall): Promise<Verdict> {
  const paths = toolPaths(tool).map((path) => toolPath(scene, path));
  if (paths.length === 0) return { kind: 'allow' };
  const { afterFiles } = await import('./ledger/file-tool.ts');
  const news = await afterFiles(scene, session, paths);
  const head = await headVerdict(scene, session);
  const lines = head?.kind === 'context' ? [...news, head.text] : news;
  return lines.length === 0
    ? { kind: 'allow' }
    : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

/** A look that takes too long leaves the command's changes unclaimed, and says so in the log. */
async function afterShellTool(scene: Scene, session: SessionId): Promise<string[]> {
  const { afterShell } = await import('./ledger/after-shell.ts');
  try {
    const told = await afterShell(scene, session);
    const head = await headVerdict(scene, session);
    return head?.kind === 'context' ? [...told, head.text] : told;
  } catch (error) {
    scene.log('open', `what the command changed is not known: ${String(error)}`);
    return [];
  }
}

/** What happened behind git-handoff's back, each change once. */
export async function lookAround(scene: Scene, session: SessionId): Promise<string[]> {
  return [...(await checkGuardedFiles(scene.cwd, session, scene.remaining())), ...(await movedRefs(scene))];
}

/** One listing tells whether any public ref differs from what was kept; only then topics are read. */
async function movedRefs(scene: Scene): Promise<string[]> {
  const refs = await listRefs({ cwd: scene.cwd }, [HANDOFFS, KEPT], {
    content: false,
    timeoutMs: scene.remaining(),
  });
  const oids = (prefix: string) =>
    new Map(
      refs.flatMap((ref) => (ref.name.startsWith(prefix) ? [[ref.name.slice(prefix.length), ref.oid]] : [])),
    );
  const [open, kept] = [oids(HANDOFFS), oids(KEPT)];
  const same = open.size === kept.size && [...open].every(([name, oid]) => kept.get(name) === oid);
  if (same) return [];
  const repository = await openRepository(scene.cwd);
  return reportIllegalMoves(repository, await readTopics(repository), scene.now);
}
