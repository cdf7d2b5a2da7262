/** What one section of a patch in Codex's format (`*** Begin Patch`) does to a file. Paths are as in the patch. */
export interface PatchedFile {
  readonly path: string;
  readonly change: 'add' | 'update' | 'delete';
  /** Where an update moves the file to. */
  readonly moveTo?: string;
  /** The first line of an added file, which may be a marker; for an update, the first added line that is a marker. */
  readonly firstLine?: string;
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const CHANGES = { Add: 'add', Update: 'update', Delete: 'delete' } as const;

/**
 * Returns the files that a patch touches. It finds headers as Codex does: blanks around them do not count, lines around the
 * patch (a heredoc's own) are skipped, and an added line is never a header.
 */
export function patchedFiles(patch: string): PatchedFile[] {
  const files: PatchedFile[] = [];
  for (const line of patch.split('\n')) {
    const trimmed = line.trim();
    const [, word, path] = HEADER.exec(trimmed) ?? [];
    const last = files.at(-1);
    if (path !== undefined) {
      files.push({ path, change: CHANGES[word as keyof typeof CHANGES] });
      continue;
    }
    if (last === undefined) continue;
    const moveTo = MOVE.exec(trimmed)?.[1];
    if (last.change === 'update' && last.moveTo === undefined && moveTo !== undefined) {
      files[files.length - 1] = { ...last, moveTo };
    } else if (last.firstLine === undefined && line.startsWith('+') && isFirst(last, line)) {
      files[files.length - 1] = { ...last, firstLine: line.slice(1).replace(/\r$/, '') };
    }
  }
  return files;
}

const isFirst = ({ change }: PatchedFile, line: string): boolean =>
  change === 'add' || (change === 'update' && /^\+.?<!--[ \t]*claude-session:/.test(line));
