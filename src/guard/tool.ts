import type { ToolCall } from '../agents/dialect.ts';
import { absolutePath } from '../host/disk.ts';
import { nameHash } from '../host/name-hash.ts';
import type { Call } from './call.ts';

/** A tool that runs a command. */
export type CommandTool = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/** The command that a tool runs; `undefined` for a tool that runs none. */
export function commandText(tool: CommandTool): string;
export function commandText(tool: ToolCall | undefined): string | undefined;
export function commandText(tool: ToolCall | undefined): string | undefined {
  if (tool?.kind === 'shell') return tool.command;
  return tool?.kind === 'argv' ? tool.argv.join(' ') : undefined;
}

/** The path a file tool names, absolute. */
export function toolPath(call: Call, path: string): string {
  return absolutePath(path, call.cwd, call.machine.home);
}

/** The paths a file tool names, as it names them; where a patch moves a file, both. */
export function toolPaths(tool: ToolCall): string[] {
  if (tool.kind === 'write' || tool.kind === 'edit') return [tool.path];
  return tool.kind === 'patch' ? tool.files.flatMap(({ path, moveTo = path }) => [path, moveTo]) : [];
}

/** One tool call's name: the client's, where that is a plain one, or else one of what it is about to do. */
export function windowId({ event }: Call): string {
  return event.callId !== undefined && /^[\w-]{1,100}$/.test(event.callId)
    ? event.callId
    : nameHash(event.callId ?? JSON.stringify([event.toolName, event.tool]));
}
