import type { ToolCall, Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { toolPath, toolPaths } from '../before-tool.ts';
import { quietly } from '../quietly.ts';
import type { Scene } from '../scene.ts';

type CommandTool = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/**
 * Looks afterwards at what could not be told before: refs that were moved by hand, handoff files that
 * were changed unseen. Remembers guarded files that the session wrote, and what its sub-agent has seen.
 */
export async function afterTool(scene: Scene, session: SessionId): Promise<Verdict> {
  const { tool, failure } = scene.event;
  if (tool === undefined) return { kind: 'allow' };
  if (failure !== undefined) (await import('./automatic.ts')).noteFailure(scene, session);
  const paths = toolPaths(tool).flatMap((path) => scene.files.reachedBy(toolPath(scene, path), true) ?? []);
  if (paths.length > 0) await (await import('../../notes/guarded-files.ts')).rememberFiles(scene.cwd, paths);
  const isCommand = tool.kind === 'shell' || tool.kind === 'argv';
  if (!isCommand && toolPaths(tool).length === 0) return { kind: 'allow' };
  const seen = await (isCommand ? afterShellTool(scene, session, tool) : afterFileTool(scene, session, tool));
  const lines = [...seen, ...(await strictNotice(scene, session))];
  return lines.length === 0
    ? { kind: 'allow' }
    : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

async function afterShellTool(scene: Scene, session: SessionId, tool: CommandTool): Promise<string[]> {
  const { afterCommand } = await import('./after-command.ts');
  return afterCommand(scene, session, tool.kind === 'shell' ? tool.command : tool.argv.join(' '));
}

async function afterFileTool(scene: Scene, session: SessionId, tool: ToolCall): Promise<readonly string[]> {
  const paths = toolPaths(tool).map((path) => toolPath(scene, path));
  const { afterFiles } = await import('../effects/after-file.ts');
  return (await quietly(scene, () => afterFiles(scene, session, paths))) ?? [];
}

/** Every further module costs: this check is loaded where it is asked for. */
async function strictNotice(scene: Scene, session: SessionId): Promise<string[]> {
  if (scene.settings.headCheck !== 'strict') return [];
  const { headVerdict } = await import('../checks/strict-head.ts');
  const head = await headVerdict(scene, session);
  return head?.kind === 'context' ? [head.text] : [];
}
