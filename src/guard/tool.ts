import type { ToolCall } from '../agents/dialect.ts';
import { absolutePath } from '../host/disk.ts';
import { nameHash } from '../host/name-hash.ts';
import type { Call } from './call.ts';

/** A tool that runs a command. */
export type CommandTool = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/** Returns the command that a tool runs; `undefined` for a tool that runs none. */
export function commandText(tool: CommandTool): string;
export function commandText(tool: ToolCall | undefined): string | undefined;
export function commandText(tool: ToolCall | undefined): string | undefined {
  if (tool?.kind === 'shell') return tool.command;
  return tool?.kind === 'argv' ? tool.argv.join(' ') : undefined;
}

/** Returns the path that a file tool names, made absolute. */
export function toolPath(call: Call, path: string): string {
  return absolutePath(path, call.cwd, call.machine.home);
}

/** Returns the paths that a file tool names, as written; for a moved file in a patch both the old and the new one. */
export function toolPaths(tool: ToolCall): string[] {
  if (tool.kind === 'write' || tool.kind === 'edit') return [tool.path];
  return tool.kind === 'patch' ? tool.files.flatMap(({ path, moveTo = path }) => [path, moveTo]) : [];
}

/** Returns a name for one tool call: the client's call id if it is a plain one, or else a hash of the call. */
export function windowId({ event }: Call): string {
  return event.callId !== undefined && /^[\w-]{1,100}$/.test(event.callId)
    ? event.callId
    : nameHash(event.callId ?? JSON.stringify([event.toolName, event.tool]));
}
