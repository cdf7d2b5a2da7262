import type { ToolCall, Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { toolPath, toolPaths } from './before-tool.ts';
import { quietly } from './quietly.ts';
import type { Scene } from './scene.ts';

/**
 * Looks afterwards at what could not be told before: refs that were moved by hand, handoff files that
 * were changed unseen. Remembers guarded files that the session wrote, and what its sub-agent has seen.
 */
export async function afterTool(scene: Scene, session: SessionId): Promise<Verdict> {
  const { tool, failure } = scene.event;
  if (tool === undefined) return { kind: 'allow' };
  if (failure !== undefined) (await import('./automatic.ts')).noteFailure(scene, session);
  const paths = toolPaths(tool).flatMap((path) => scene.files.reachedBy(toolPath(scene, path), true) ?? []);
  if (paths.length > 0) await (await import('../../store/guarded-files.ts')).rememberFiles(scene.cwd, paths);
  if (tool.kind !== 'shell' && tool.kind !== 'argv') return afterFileTool(scene, session, tool);
  const { afterCommand } = await import('./after-command.ts');
  return afterCommand(scene, session, tool.kind === 'shell' ? tool.command : tool.argv.join(' '));
}

async function afterFileTool(scene: Scene, session: SessionId, tool: ToolCall): Promise<Verdict> {
  const paths = toolPaths(tool).map((path) => toolPath(scene, path));
  if (paths.length === 0) return { kind: 'allow' };
  const { afterFiles } = await import('./ledger/after-file.ts');
  const news = (await quietly(scene, () => afterFiles(scene, session, paths))) ?? [];
  const lines = [...news, ...(await strictNotice(scene, session))];
  return lines.length === 0
    ? { kind: 'allow' }
    : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

/** Every further module costs: this check is loaded where it is asked for. */
export async function strictNotice(scene: Scene, session: SessionId): Promise<string[]> {
  if (scene.settings.headCheck !== 'strict') return [];
  const { headVerdict } = await import('./ledger/strict-head.ts');
  const head = await headVerdict(scene, session);
  return head?.kind === 'context' ? [head.text] : [];
}
