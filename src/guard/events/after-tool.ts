import type { ToolCall, Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { readVisits } from '../../sessions/visits.ts';
import { toolPath, toolPaths } from '../tool-paths.ts';
import { quietly } from '../quietly.ts';
import type { Scene } from '../scene.ts';

type CommandTool = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/**
 * Looks afterwards at what could not be told before: refs that were moved by hand, handoff files that
 * were changed unseen. Remembers guarded files that the session wrote, and what its sub-agent has seen.
 */
export async function afterTool(scene: Scene, session: SessionId): Promise<Verdict> {
  const { enabled } = scene;
  const { tool, failure } = scene.event;
  if (tool === undefined) return { kind: 'allow' };
  if (enabled && failure !== undefined) (await import('./automatic.ts')).noteFailure(scene, session);
  const paths = toolPaths(tool).flatMap((path) => scene.files.reachedBy(toolPath(scene, path), true) ?? []);
  if (enabled && paths.length > 0)
    await (await import('../../notes/guarded-files.ts')).rememberFiles(scene.folder, paths);
  const isCommand = tool.kind === 'shell' || tool.kind === 'argv';
  if (!isCommand && toolPaths(tool).length === 0) return { kind: 'allow' };
  const seen = await (isCommand ? afterShellTool(scene, session, tool) : afterFileTool(scene, session, tool));
  const lines = [...seen, ...(enabled ? await strictNotice(scene, session) : [])];
  return lines.length === 0
    ? { kind: 'allow' }
    : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

async function afterShellTool(scene: Scene, session: SessionId, tool: CommandTool): Promise<string[]> {
  const command = tool.kind === 'shell' ? tool.command : tool.argv.join(' ');
  const { afterCommand } = await import('./after-command.ts');
  const seen = scene.enabled ? await afterCommand(scene, session, command) : [];
  if (readVisits(scene.env, session).length === 0) return seen;
  const { ranIn, leave } = await import('../visits.ts');
  for (const there of await ranIn(scene, session)) {
    seen.push(...((await quietly(there, () => afterCommand(there, session, command))) ?? []));
    await quietly(there, () => leave(there, session));
  }
  return seen;
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
