import type { PatchedFile } from '../domain/patch.ts';
import type { ToolCall } from './dialect.ts';
import { type Fields, editCall, fields, text } from './payload.ts';

/* We know only an MCP tool's name and input. If its name has a verb for changing files, we guard every path in its input. */

const WRITES =
  /(?:^|_)(?:write|overwrite|create|save|put|append|edit|modify|update|replace|insert|patch|truncate)(?:_|$)/;
const COPIES = /(?:^|_)(?:copy|cp)(?:_|$)/;
const MOVES = /(?:^|_)(?:move|mv|rename)(?:_|$)/;
const REMOVES = /(?:^|_)(?:delete|remove|rm|unlink)(?:_|$)/;
const SHELLS = /(?:^|_)(?:bash|shell|exec|execute|run|terminal)(?:_|$)/;

const PATH_KEY =
  /(?:^|_)(?:paths?|files?|filename|uris?|destinations?|dest|dst|targets?|sources?|src|from|to)(?:_|$)/;
const SOURCE_KEY = /(?:^|_)(?:sources?|src|from)(?:_|$)/;

/** How deeply a path may be nested in an input (`{files: [{path}]}` is 3). */
const MAX_DEPTH = 4;

/** Reads the call of an MCP tool (`mcp__<server>__<tool>`, or the tool's own name). */
export function mcpCall(tool: string, input: Fields): ToolCall {
  const name = snakeCase(tool.replace(/^.*__/, ''));
  const found = pathsIn(input, '', MAX_DEPTH);
  const paths = found.map(({ path }) => path);
  if (MOVES.test(name)) return patch([...filesOf(paths, 'delete'), ...filesOf(paths, 'update')]);
  if (REMOVES.test(name)) return patch(filesOf(paths, 'delete'));
  if (COPIES.test(name)) {
    const targets = found.filter(({ key }) => !SOURCE_KEY.test(key)).map(({ path }) => path);
    return patch(filesOf(targets, 'update'));
  }
  if (WRITES.test(name)) {
    const content = text(input['content']) ?? text(input['text']);
    const [path, ...more] = paths;
    return path !== undefined && more.length === 0 && content !== undefined
      ? { kind: 'write', path, content }
      : edited(paths, input);
  }
  const command = SHELLS.test(name) ? text(input['command']) : undefined;
  return command === undefined ? { kind: 'other' } : { kind: 'shell', command };
}

/** Returns an edit if the call names one file and its replacements are known; else a patch that updates every named file. */
function edited(paths: readonly string[], input: Fields): ToolCall {
  const [path, ...more] = paths;
  const edit = path === undefined || more.length > 0 ? undefined : editCall(path, input);
  return edit?.edits === undefined ? patch(filesOf(paths, 'update')) : edit;
}

function patch(files: readonly PatchedFile[]): ToolCall {
  return files.length === 0 ? { kind: 'other' } : { kind: 'patch', files };
}

function filesOf(paths: readonly string[], change: PatchedFile['change']): PatchedFile[] {
  return paths.map((path) => ({ path, change }));
}

function pathsIn(value: unknown, key: string, depth: number): { key: string; path: string }[] {
  if (typeof value === 'string') return PATH_KEY.test(key) ? [{ key, path: fromUri(value) }] : [];
  if (depth === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, key, depth - 1));
  const object = fields(value) ?? {};
  return Object.entries(object).flatMap(([name, item]) => pathsIn(item, snakeCase(name), depth - 1));
}

function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}

/** The path of a `file:` URI. Any other text is already a path. */
function fromUri(path: string): string {
  if (!path.startsWith('file://')) return path;
  const encoded = path.replace(/^file:\/\/[^/]*/, '');
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
