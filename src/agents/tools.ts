import { patchedFiles } from '../domain/patch.ts';
import type { ToolCall } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  FROM_KEYS,
  type Fields,
  TO_KEYS,
  UNREADABLE,
  editCall,
  fieldsOrJson,
  firstText,
  text,
} from './payload.ts';

/** A client's tools, by their names, and how it names those of MCP servers. */
export interface Tools {
  readonly shell: RegExp;
  /** The tools that replace a whole file. */
  readonly write: RegExp;
  /** The tools that change parts of files, also by a patch. */
  readonly edit: RegExp;
  /** Whether an edit with an empty old text creates the file. */
  readonly editCreates?: true;
  /** Returns the name of an MCP server's tool; `undefined` for other tools. Default: Claude Code's `mcp__<server>__<tool>`. */
  readonly server?: (tool: string, event: Fields) => string | undefined;
  /** Reads the calls of tools that only this client has; `undefined` for all others. */
  readonly own?: (tool: string, input: Fields, event: Fields) => ToolCall | undefined;
}

/** The names of a file's path in the input of a tool. */
export const PATH_KEYS = ['file_path', 'path', 'filePath', 'target_file', 'notebook_path', 'target_notebook'];
const CONTENT_KEYS = ['content', 'contents', 'file_text'];
const FOLDER_KEYS = ['workdir', 'working_directory', 'directory', 'dir_path'];
const PATCH_KEYS = ['patch', 'patchText', 'input', 'command'];
const BACKGROUND_KEYS = ['run_in_background', 'is_background', 'background'];

/** Reads the call of a tool, whose input may also be JSON in a text. */
export function toolCall(tools: Tools, tool: string | undefined, given: unknown, event: Fields): ToolCall {
  if (tool === undefined) return UNREADABLE;
  const known = fieldsOrJson(given);
  const input = known ?? {};
  const own = tools.own?.(tool, input, event);
  if (own !== undefined) return own;
  if (tools.shell.test(tool)) {
    const runsOn = /^monitor$/i.test(tool) || input['mode'] === 'async';
    return commandCall(input, runsOn || BACKGROUND_KEYS.some((key) => input[key] === true));
  }
  const isWrite = tools.write.test(tool);
  if (isWrite || tools.edit.test(tool)) {
    const path = firstText(input, PATH_KEYS);
    if (path === undefined) return patchCall(text(given) ?? firstText(input, PATCH_KEYS));
    const creates = tools.editCreates === true && firstText(input, FROM_KEYS) === '';
    const content = firstText(input, isWrite ? CONTENT_KEYS : creates ? TO_KEYS : []);
    return content === undefined ? editCall(path, input) : { kind: 'write', path, content };
  }
  const { server = (name: string) => (name.startsWith('mcp__') ? name : undefined) } = tools;
  const name = known === undefined ? undefined : server(tool, event);
  return name === undefined ? { kind: 'other' } : mcpCall(name, input);
}

/** Reads a command line, or the words of a command that runs without a shell, and the folder that the input names. */
export function commandCall(input: Fields, inBackground = false): ToolCall {
  const command = input['command'] ?? input['cmd'];
  const folder = firstText(input, FOLDER_KEYS) ?? '';
  const cwd = folder === '' ? {} : { cwd: folder };
  if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string'))
    return { kind: 'argv', argv: command, ...cwd };
  if (typeof command !== 'string') return UNREADABLE;
  return { kind: 'shell', command, ...cwd, ...(inBackground ? { inBackground } : {}) };
}

/** What a patch changes (apply_patch). */
function patchCall(patch: string | undefined): ToolCall {
  const files = patchedFiles(patch ?? '');
  return files.length === 0 ? UNREADABLE : { kind: 'patch', files };
}
