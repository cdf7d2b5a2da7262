import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { addParts, isWhole } from '../../src/changes/session-parts.ts';
import { Failure } from '../../src/domain/messages.ts';
import type { FileState } from '../../src/domain/ledger/tree-status.ts';
import {
  type SessionId,
  agentOfOwner,
  ownerId,
  parseSessionId,
  sessionOfOwner,
} from '../../src/domain/names.ts';
import { hashFiles, readContents, scratchStore } from '../../src/git/scratch.ts';
import { worktreeId } from '../../src/host/folders.ts';
import { budgetUntil } from '../../src/host/io.ts';
import { processTable } from '../../src/host/processes.ts';
import type { Context } from '../../src/sessions/caller.ts';
import { appendEvents, appendSessionEvents } from '../../src/sessions/journal.ts';
import { restoreRescued } from '../../src/verbs/rescue/restore.ts';
import { diff } from '../../src/verbs/sharing/diff.ts';
import { allParts, readSessionWork } from '../../src/verbs/sharing/session-work.ts';
import { undo } from '../../src/verbs/sharing/undo.ts';
import { Random, SEED, amount } from '../support/faults/seed.ts';
import { TestRepository } from '../support/repository.ts';

/**
 * Sessions and their sub-agents, the owners, change lines of shared files in turn. Undoing an owner's changes must leave the
 * files as if the owner had never been there, or change nothing. An owner's part must be what it alone would have changed.
 * All parts and the rest together must be what differs from HEAD, and the rescue of an undo must bring everything back.
 */

const HISTORIES = amount(20, 1000);
/** Seeds that once found a defect: with an emptied file, and with a file that was staged and then removed. */
const KNOWN = [7200026, 7200083];
const SEEDS = [...KNOWN, ...Array.from({ length: HISTORIES }, (_, n) => SEED + n)];
const FILES = ['one.txt', 'two.txt', 'deep/three.txt'];
const SESSIONS = ['aaaaaaaa-1', 'bbbbbbbb-2', 'cccccccc-3'].map((id) => parseSessionId(id) as SessionId);
/** Three sub-agents of two of the sessions. */
const AGENTS = SESSIONS.slice(0, 2).flatMap((id, n) =>
  ['x', 'y'].slice(n).map((agent) => ownerId(id, agent)),
);

interface Line {
  readonly id: number;
  readonly text: string;
}

/** One session's change of one file. Lines are identified by numbers, which they keep when their text changes. */
interface Act {
  /** The session's id, or the owner id of its sub-agent. */
  readonly by: SessionId;
  readonly path: string;
  readonly kind: 'insert' | 'replace' | 'delete' | 'remove file' | 'add file';
  /** The line that is changed, or after which a line is inserted; 0: the top. */
  readonly at: number;
  readonly line: Line;
}

type Files = Map<string, readonly Line[]>;

/** Plays acts; an act whose line is missing changes nothing. */
function play(start: Files, acts: readonly Act[]): Files {
  const files: Files = new Map(start);
  for (const { path, kind, at, line } of acts) {
    const lines = files.get(path);
    if (kind === 'add file') {
      if (lines === undefined) files.set(path, [line]);
    } else if (lines === undefined) continue;
    else if (kind === 'remove file') files.delete(path);
    else if (kind === 'insert') {
      const after = at === 0 ? 0 : lines.findIndex(({ id }) => id === at) + 1;
      if (at === 0 || after > 0) files.set(path, [...lines.slice(0, after), line, ...lines.slice(after)]);
    } else if (kind === 'replace')
      files.set(
        path,
        lines.map((one) => (one.id === at ? { ...line, id: at } : one)),
      );
    else
      files.set(
        path,
        lines.filter(({ id }) => id !== at),
      );
  }
  return files;
}

const textOf = (lines: readonly Line[] | undefined) => lines?.map(({ text }) => `${text}\n`).join('') ?? null;

class History {
  readonly #random: Random;
  readonly #repository = new TestRepository();
  readonly #start: Files;
  readonly #acts: Act[] = [];
  readonly #owners: readonly SessionId[];
  /** The sub-agents that run. */
  readonly #running = new Set<SessionId>();
  #lines = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#owners = this.#random.below(2) === 0 ? SESSIONS : [...SESSIONS.slice(0, 2), ...AGENTS];
    this.#start = new Map(
      FILES.map((path) => [
        path,
        Array.from({ length: 6 + this.#random.below(30) }, () => this.#line('base')),
      ]),
    );
    this.#repository.commit(
      'base',
      Object.fromEntries([...this.#start].map(([path, lines]) => [path, textOf(lines) ?? ''])),
    );
  }

  #line(who: string): Line {
    this.#lines += 1;
    return { id: this.#lines, text: `${who} ${this.#lines}` };
  }

  async play(): Promise<{ undone: number; refused: number; shown: number; apart: number }> {
    const count = { undone: 0, refused: 0, shown: 0, apart: 0 };
    try {
      for (let n = 2 + this.#random.below(9); n > 0; n -= 1) await this.#act();
      const owners = [...new Set(this.#acts.map(({ by }) => this.#counted(by)))];
      for (const one of owners) {
        const { shown, apart } = await this.#show(one);
        count.shown += shown;
        count.apart += apart;
      }
      await this.#showAll();
      const isUndone = await this.#undo(this.#random.pick(owners));
      count[isUndone ? 'undone' : 'refused'] += 1;
      return count;
    } catch (error) {
      if (error instanceof Error)
        error.message += `\n${this.#acts.map((act) => JSON.stringify(act)).join('\n')}`;
      throw error;
    } finally {
      this.#repository.remove();
    }
  }

  /** A session's or sub-agent's file tool changes a file and claims it. Sub-agents end at random, and may begin again. */
  async #act(): Promise<void> {
    const by = this.#random.pick(this.#owners);
    if (agentOfOwner(by) !== undefined && !this.#running.has(by)) this.#runs(by, true);
    const now = play(this.#start, this.#acts);
    const path = this.#random.below(8) === 0 ? `new-${this.#random.below(2)}.txt` : this.#random.pick(FILES);
    const lines = now.get(path);
    const anchor = lines === undefined || lines.length === 0 ? 0 : this.#random.pick(lines).id;
    const kind =
      lines === undefined
        ? 'add file'
        : this.#isRemovable(path, by) && this.#random.below(12) === 0
          ? this.#removal(path)
          : this.#random.pick(['insert', 'replace', 'replace', 'delete'] as const);
    const act: Act = { by, path, kind, at: anchor, line: this.#line(by) };
    const before = await this.#stateOf(path);
    this.#acts.push(act);
    this.#put(path, play(this.#start, this.#acts).get(path));
    const after = await this.#stateOf(path);
    if (this.#random.below(4) === 0) this.#repository.git(['add', '-A', '--', '.']);
    const base = this.#headOf(path);
    const at = this.#acts.length;
    const claim = { t: 'claim', path, base, before, after, evidence: 'explicit', weak: false, at } as const;
    appendEvents(this.#place, by, [claim]);
    const [over] = this.#random.sample([...this.#running], 1);
    if (over !== undefined && this.#random.below(4) === 0) this.#runs(over, false);
  }

  #runs(owner: SessionId, isRunning: boolean): void {
    const agent = agentOfOwner(owner) ?? '';
    const t = isRunning ? 'agent-started' : 'agent-ended';
    appendSessionEvents(this.#place.commonDir, sessionOfOwner(owner), [{ t, agent, at: this.#acts.length }]);
    if (isRunning) this.#running.add(owner);
    else this.#running.delete(owner);
  }

  /** The current owner of an act: an ended sub-agent's acts are its session's. */
  #counted(by: SessionId): SessionId {
    return this.#running.has(by) ? by : sessionOfOwner(by);
  }

  /** The guard does not let a session remove a file that another one has added: nothing could bring it back. */
  #isRemovable(path: string, by: SessionId): boolean {
    const others = this.#acts.filter((act) => act.path === path && act.by !== by);
    return others.length === 0 || FILES.includes(path);
  }

  /** Removing a file that was already removed and made again would be ambiguous, so only a line of it is deleted. */
  #removal(path: string): Act['kind'] {
    const isMadeAgain = this.#acts.some((act) => act.path === path && act.kind === 'add file');
    return isMadeAgain && FILES.includes(path) ? 'delete' : 'remove file';
  }

  #put(path: string, lines: readonly Line[] | undefined): void {
    const file = join(this.#repository.path, path);
    mkdirSync(dirname(file), { recursive: true });
    const text = textOf(lines);
    if (text === null) rmSync(file, { force: true });
    else writeFileSync(file, text);
  }

  async #stateOf(path: string): Promise<FileState> {
    const oids = await hashFiles(this.#repository.path, [path], { scratch: this.#scratch });
    const oid = oids.get(path);
    return oid === undefined ? null : { mode: '100644', oid };
  }

  #headOf(path: string): FileState {
    const lines = this.#start.get(path);
    if (lines === undefined) return null;
    const oid = this.#repository.git(['rev-parse', `HEAD:${path}`]);
    return { mode: '100644', oid: oid as NonNullable<NonNullable<FileState>['oid']> };
  }

  get #scratch() {
    return scratchStore(this.#place.commonDir);
  }

  get #place() {
    const commonDir = join(this.#repository.path, '.git');
    return { commonDir, worktreeId: worktreeId(commonDir) };
  }

  /** A person's command. */
  get #context(): Context {
    const [now, cwd] = [Date.now(), this.#repository.path];
    const budget = budgetUntil(now + 600_000, Date.now);
    return { cwd, env: {}, clientPid: 1, processes: processTable, now, clock: Date.now, budget };
  }

  /** Expects that the owner's part of each path, if it can be separated, is what the owner alone would have made of HEAD. */
  async #show(owner: SessionId): Promise<{ shown: number; apart: number }> {
    const scene = await readSessionWork({ pathspecs: [], session: undefined }, this.#context);
    const { work } = scene;
    const { parts = [] } = (await allParts(scene)).find(({ session }) => session === owner) ?? {};
    const rest = parts.filter((part) => !isWhole(part, part.dirty.head));
    const { entries, contents, failed } = await addParts(work.tree, rest);
    const alone = play(
      this.#start,
      this.#acts.filter(({ by }) => this.#counted(by) === owner),
    );
    const now = play(this.#start, this.#acts);
    for (const [path, state] of entries) {
      const kept = state?.oid === undefined || state.oid === null ? undefined : contents.get(state.oid);
      const [stored] =
        kept !== undefined || state === null || state.oid === null
          ? [kept]
          : await readContents(work.tree.top, this.#scratch, [state.oid]);
      const lines = this.#isLeftTo(owner, path) ? now.get(path) : alone.get(path);
      const text = state === null ? null : stored?.toString();
      expect({ path, text }).toEqual({ path, text: textOf(lines) });
    }
    return { shown: parts.length - failed.length, apart: failed.length };
  }

  /** Whether a file was made again and all its lines are this owner's: then the whole file is the owner's. */
  #isLeftTo(owner: SessionId, path: string): boolean {
    const lines = play(this.#start, this.#acts).get(path) ?? [];
    const writers = new Map(this.#acts.map(({ by, line }) => [line.text, this.#counted(by)]));
    const isMadeAgain = this.#acts.some((act) => act.path === path && act.kind === 'add file');
    return isMadeAgain && lines.length > 0 && lines.every(({ text }) => writers.get(text) === owner);
  }

  /** Expects that all parts and the rest together are what differs from HEAD. */
  async #showAll(): Promise<void> {
    const options = { of: undefined, pathspecs: [], session: undefined, stat: false };
    const { bytes } = await diff(options, this.#context);
    const tree = (index: string, args: readonly string[], input = '') => {
      const env = { GIT_INDEX_FILE: join(this.#place.commonDir, index) };
      this.#repository.git(['read-tree', 'HEAD'], { env });
      this.#repository.git(args, { env, input });
      return this.#repository.git(['write-tree'], { env });
    };
    const applied = tree('applied', ['apply', '--cached', '--allow-empty'], String(bytes));
    expect(applied).toBe(tree('whole', ['add', '-A']));
  }

  /** Undoes an owner's changes (a session's with those of its running sub-agents), and then brings them back. */
  async #undo(owner: SessionId): Promise<boolean> {
    const before = this.#found();
    const now = play(this.#start, this.#acts);
    const isTaken = ({ by }: Act) => this.#counted(by) === owner || sessionOfOwner(by) === owner;
    try {
      const { value } = await undo({ of: owner, pathspecs: [], session: undefined }, this.#context);
      const others = play(
        this.#start,
        this.#acts.filter((act) => !isTaken(act)),
      );
      // A file that is as in HEAD has no uncommitted change, whoever has restored it.
      const isClean = (path: string) => textOf(now.get(path)) === textOf(this.#start.get(path));
      for (const [path, lines] of this.#start) if (isClean(path)) others.set(path, lines);
      const left = [...others].flatMap(([path, lines]) => [[path, textOf(lines)]]).sort();
      expect(this.#found().files).toEqual(left);
      const which = String(value.rescue);
      await restoreRescued({ which, paths: [], force: false, session: undefined }, this.#context);
      expect(this.#found()).toEqual(before);
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      expect(error.message).toMatch(/^nothing was undone: |has no uncommitted change there$/);
      expect(this.#found()).toEqual(before);
      return false;
    }
  }

  /** Every file with its text, and the index. */
  #found() {
    const { path: top } = this.#repository;
    const names = readdirSync(top, { recursive: true, encoding: 'utf8', withFileTypes: true });
    const paths = names
      .filter((one) => one.isFile())
      .map((one) => relative(top, join(one.parentPath, one.name)));
    const files = paths.filter((path) => path !== 'a.txt' && !path.startsWith('.git/')).sort();
    return {
      files: files.map((path) => [path, readFileSync(join(top, path), 'utf8')]),
      index: this.#repository.git(['ls-files', '--stage']),
    };
  }
}

describe('files that several sessions changed in turn', () => {
  const total = { undone: 0, refused: 0, shown: 0, apart: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`undo: ${figures.join(', ')} (seed ${SEED})\n`);
    if (total.undone + total.refused > 1) expect(2 * total.undone).toBeGreaterThan(total.refused);
  });

  it.each(SEEDS)('are, without one session’s part, as if it had never been there (seed %i)', async (seed) => {
    const count = await new History(seed).play();
    for (const what of ['undone', 'refused', 'shown', 'apart'] as const) total[what] += count[what];
  });
});
