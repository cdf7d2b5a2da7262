/** A row of a structured handoffs' INDEX.md. */
interface IndexRow {
  /** `sha256:<64 hex>` as it stands there; empty when the column is. */
  readonly id: string;
  readonly file: string;
  /** Somebody has marked it as read. */
  readonly wasRead: boolean;
}

/** More is no index that anybody keeps. */
const MAX_ROWS = 10_000;

/**
 * Reads the table of an INDEX.md by the names of its columns. Blank lines between rows and blanks before them do not
 * end it: its own program leaves both behind. Empty where there is no such table.
 */
export function parseIndex(text: string): IndexRow[] {
  let columns: Map<string, number> | undefined;
  const rows: IndexRow[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const cells = cellsOf(line);
    if (cells === undefined) continue;
    const names = cells.map((cell) => cell.toLowerCase());
    if (names.includes('handoff_id') && names.includes('file')) {
      columns = new Map(names.map((name, at) => [name, at]));
      continue;
    }
    if (columns === undefined || cells.every((cell) => /^:?-*:?$/.test(cell))) continue;
    const cell = (name: string) => cells[columns?.get(name) ?? -1] ?? '';
    const file = cell('file');
    if (file === '') continue;
    rows.push({ id: cell('handoff_id'), file, wasRead: cell('read_by') !== '' });
    if (rows.length >= MAX_ROWS) break;
  }
  return rows;
}

/** The cells of `| a | b |`; `undefined` for another line. */
function cellsOf(line: string): string[] | undefined {
  const text = line.trim();
  if (!text.startsWith('|')) return undefined;
  const inner = text.slice(1, text.length > 1 && text.endsWith('|') ? -1 : undefined);
  return inner.split('|').map((cell) => cell.replaceAll('`', '').trim());
}

/** The plain name of a file that an index names; `undefined` when it would lead out of the index's folder. */
export function indexedName(file: string, folder: string): string | undefined {
  const link = /^\[[^[\]]*\]\(([^()]*)\)$/.exec(file)?.[1] ?? file;
  const slash = link.lastIndexOf('/');
  const [parent, name] = [
    link.slice(0, Math.max(slash, 0)).replace(/^\.(?:\/|$)/, ''),
    link.slice(slash + 1),
  ];
  if (slash === 0 || name === '' || name === '.' || name === '..' || /[\\\0]/.test(name)) return undefined;
  // Its own program may write the path from the top of the repository.
  return parent === '' || folder === parent || folder.endsWith(`/${parent}`) ? name : undefined;
}
