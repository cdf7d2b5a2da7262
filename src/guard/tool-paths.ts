import type { ToolCall } from '../agents/dialect.ts';
import { absolutePath } from '../host/disk.ts';
import type { Scene } from './scene.ts';

/** The path a file tool names, absolute. */
export function toolPath(scene: Scene, path: string): string {
  return absolutePath(path, scene.cwd, scene.home);
}

/** Paths that a file tool names, for what happens after it. */
export function toolPaths(tool: ToolCall): string[] {
  if (tool.kind === 'write' || tool.kind === 'edit') return [tool.path];
  return tool.kind === 'patch' ? tool.files.flatMap(({ path, moveTo = path }) => [path, moveTo]) : [];
}
