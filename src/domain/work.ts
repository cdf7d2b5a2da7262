import { foldedName } from './names.ts';
import { partName } from './snapshot.ts';

/** Uncommitted work that a note carries: how much it is, and which of its files need a look first. Pure. */

/** Folders whose files make programs run or instruct agents. */
const MOVING_FOLDERS = [
  '.claude',
  '.codex',
  '.gemini',
  '.qwen',
  '.copilot',
  '.opencode',
  '.cursor',
  '.agents',
  '.husky',
  '.vscode',
  '.idea',
  '.devcontainer',
];

/** Names of such files, in any folder. */
const MOVING_FILES = [
  'agents.md',
  'agents.override.md',
  'claude.md',
  'claude.local.md',
  'gemini.md',
  'qwen.md',
  'opencode.json',
  'opencode.jsonc',
  '.mcp.json',
  '.cursorrules',
  '.windsurfrules',
  '.clinerules',
  '.envrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pre-commit-config.yaml',
  'lefthook.yml',
];

/**
 * Whether a file can make programs run or instruct agents: clients' settings and instructions, git's own files, hooks. This
 * is a caution for work from elsewhere, not a security boundary: it does not cover build scripts, for example.
 *
 * @param hooks the folder of the git hooks relative to the top, if it is in the working tree
 */
export function isMoving(path: string, hooks: string | undefined): boolean {
  const parts = path.split('/').map(partName);
  if (hooks !== undefined && foldedName(`${path}/`).startsWith(foldedName(`${hooks}/`))) return true;
  return (
    parts.some((part) => part.startsWith('.git') || /^git~\d/.test(part) || MOVING_FOLDERS.includes(part)) ||
    MOVING_FILES.includes(parts.at(-1) ?? '')
  );
}

/** How much work a note carries. A trailer states it, so that it is known before the work is fetched. */
export interface WorkSize {
  readonly paths: number;
  readonly bytes: number;
}

/** The value of the trailer `Handoff-Work-Size`. */
export function formatWorkSize({ paths, bytes }: WorkSize): string {
  return `${paths} ${bytes}`;
}

/** Reads that trailer. */
export function parseWorkSize(value: string | undefined): WorkSize | undefined {
  const [, paths, bytes] = /^(\d{1,6}) (\d{1,15})$/.exec(value ?? '') ?? [];
  return paths === undefined ? undefined : { paths: Number(paths), bytes: Number(bytes) };
}

/** `12 paths, 34 KiB`. */
export function workSizeText({ paths, bytes }: WorkSize): string {
  const size = bytes < 1024 ? counted(bytes, 'byte') : `${Math.ceil(bytes / 1024)} KiB`;
  return `${counted(paths, 'path')}, ${size}`;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
