import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { jsonFields } from '../domain/journal/events.ts';
import { type SessionId, parseOid, parseSessionId } from '../domain/names.ts';
import { hash } from '../git/hash.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { entries, exists, readText } from '../host/disk.ts';
import { knownWorktreeId, lookFile, repositoryFolder, shareAll } from '../host/folders.ts';

/**
 * Version 0.1.0 and some later builds kept in many files what is now in a session's journal: `handoff/ledger/<worktree id>/`,
 * with a start list and a pause for each session, `handoff/{noted,late}/` and `<git dir>/handoff-operation`. The first call
 * that reads journals moves all this into the journals, but drops the list of running commands.
 */

/** Other files of those builds, which nothing needs any more. */
const FORMER = 'failed noted late told nudged asked settings-told registered touched stashes stashing'.split(
  ' ',
);

/**
 * The last line that a migration adds to a journal. If it is missing, the migration was interrupted, and runs again. It
 * holds a hash of the added lines, so that other lines, which an older build leaves later, are added, too.
 */
const markOf = (lines: string): string => `{"t":"migrated","lines":"${hash('sha256', lines)}","at":0}\n`;

/** If a migration takes longer than this, its process has died. Milliseconds. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 5;

/** Moves what older builds have left in a repository into its journals. */
export function migrateState(commonDir: string): void {
  const ledgers = `${repositoryFolder(commonDir)}/ledger`;
  if (!exists(ledgers)) return;
  const lock = `${ledgers}.lock`;
  try {
    const end = Date.now() + PATIENCE_MS;
    while (!taken(lock)) {
      if (!exists(ledgers)) return;
      if (Date.now() > end) rmSync(lock, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
    try {
      if (exists(ledgers)) migrate(commonDir, ledgers);
    } finally {
      rmSync(lock, { force: true });
    }
  } catch {
    // This user cannot write to the repository: another user's call will migrate it.
  }
}

/** Removes files of older builds that nothing reads any more, from a repository and the user's state folder. */
export function removeFormerState(commonDir: string, state: string): void {
  const folder = repositoryFolder(commonDir);
  const aside = entries(folder).filter((name) => name.startsWith('touched.'));
  const files = [...FORMER, ...aside].map((name) => `${folder}/${name}`);
  for (const file of [...files, `${state}/visits`, `${state}/models`])
    if (file.startsWith('/')) rmSync(file, { recursive: true, force: true });
}

function taken(lock: string): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

class Found {
  readonly lines = new Map<SessionId, string[]>();

  add(name: string | undefined, event: Readonly<Record<string, unknown>>): void {
    const session = parseSessionId(name);
    if (session === undefined) return;
    const lines = this.lines.get(session) ?? [];
    lines.push(`${JSON.stringify(event)}\n`);
    this.lines.set(session, lines);
  }
}

function migrate(commonDir: string, ledgers: string): void {
  const found = new Found();
  const folder = repositoryFolder(commonDir);
  const trees = entries(ledgers).filter((name) => /^[0-9a-f]{16}$/.test(name));
  for (const tree of trees) readTree(`${ledgers}/${tree}`, tree, found);
  readNotes(folder, found);
  readStashes(folder, found);
  const operations = linkedWorktrees(commonDir).map(({ gitDir }) => readOperation(gitDir, found));
  const sessions = `${folder}/sessions`;
  mkdirSync(sessions, { recursive: true, mode: 0o700 });
  for (const [session, list] of found.lines) {
    const file = `${sessions}/${session}.jsonl`;
    const lines = list.join('');
    const mark = markOf(lines);
    if (!readText(file).includes(mark)) appendFileSync(file, `\n${lines}${mark}`, { mode: 0o600 });
  }
  for (const tree of trees) keepLook(`${ledgers}/${tree}/last`, lookFile({ commonDir, worktreeId: tree }));
  for (const file of operations) rmSync(file, { force: true });
  for (const name of ['noted', 'late', 'ledger'])
    rmSync(`${folder}/${name}`, { recursive: true, force: true });
  shareAll(folder);
}

/** The new names of the kinds of entries, by their old names. */
const NEW_NAMES: Readonly<Record<string, string>> = {
  told: 'notified',
  event: 'news',
  window: 'command-end',
};

function readTree(folder: string, tree: string, found: Found): void {
  for (const name of entries(folder).filter((one) => one.endsWith('.jsonl'))) {
    for (const line of readText(`${folder}/${name}`).split('\n')) {
      const { t, ...fields } = jsonFields(line);
      if (typeof t !== 'string') continue;
      found.add(name.slice(0, -'.jsonl'.length), { t: NEW_NAMES[t] ?? t, tree, ...fields });
    }
  }
  for (const [kind, t] of [
    ['start', 'alone'],
    ['pause', 'paused'],
  ] as const) {
    for (const name of entries(`${folder}/${kind}`)) {
      const look = readText(`${folder}/${kind}/${name}`);
      const { at } = jsonFields<'at'>(look);
      if (typeof at === 'number') found.add(name, { t, tree, look, at });
    }
  }
}

/** Reads for which sessions an automatic note was left or is due. */
function readNotes(folder: string, found: Found): void {
  for (const name of entries(`${folder}/late`)) {
    const [tree, ...session] = name.split('.');
    found.add(session.join('.'), { t: 'note-due', tree, at: 0 });
  }
  for (const name of entries(`${folder}/noted`)) {
    const [tree, ...rest] = name.split('.');
    const [pid, start = ''] = rest.splice(-2);
    const process = `${pid} ${decodeURIComponent(start)}`;
    found.add(rest.join('.'), { t: 'note-left', tree, process, at: 0 });
  }
}

/** Reads which session made which stash entry: one line `<oid> <session>` for each. */
function readStashes(folder: string, found: Found): void {
  for (const line of readText(`${folder}/stashes`).split('\n')) {
    const [oid = '', session] = line.split(' ');
    if (parseOid(oid) !== undefined) found.add(session, { t: 'stashed', entries: [oid], at: 0 });
  }
}

/** Reads who began a worktree's unfinished merge, rebase …: lines `<session> <mark> <merged tree>`, with `-` for no tree. */
function readOperation(gitDir: string, found: Found): string {
  const file = `${gitDir}/handoff-operation`;
  const at = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  for (const line of readText(file).split('\n')) {
    const [session, mark, merged = ''] = line.split(' ');
    const tree = knownWorktreeId(gitDir);
    if (tree !== undefined) found.add(session, { t: 'operation', tree, mark, merged: parseOid(merged), at });
  }
  return file;
}

/** Moves a worktree's last status to its new place, unless that already has one. */
function keepLook(from: string, to: string): void {
  if (!exists(from) || exists(to)) return;
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  renameSync(from, to);
}
