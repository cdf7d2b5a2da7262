import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { DirtyWork } from '../../src/changes/dirty-work.ts';
import { addParts, isWhole, partsOf } from '../../src/changes/session-parts.ts';
import { foldLedger } from '../../src/domain/journal/fold.ts';
import type { WorktreeEvent } from '../../src/domain/journal/events.ts';
import type { FileState } from '../../src/domain/ledger/tree-status.ts';
import { type SessionId, parseSessionId } from '../../src/domain/names.ts';
import { hashFiles, readContents, scratchStore } from '../../src/git/scratch-store.ts';
import { readTreeStatus } from '../../src/git/worktrees.ts';
import { applyPlan } from '../../src/snapshot/restore.ts';
import { planTakeBack } from '../../src/verbs/sharing/take-back.ts';
import { Random, SEED, amount } from '../support/faults/seed.ts';
import { TestRepository } from '../support/repository.ts';

/**
 * Sessions change lines of shared files by turns. Without one of them, the files have to be as if it had never been
 * there, or nothing may change; and its part alone has to be as if the others had never been there.
 */

const HISTORIES = amount(20, 1000);
const SEEDS = Array.from({ length: HISTORIES }, (_, n) => SEED + n);
const FILES = ['one.txt', 'two.txt', 'deep/three.txt'];
const SESSIONS = ['aaaaaaaa-1', 'bbbbbbbb-2', 'cccccccc-3'].map((id) => parseSessionId(id) as SessionId);

interface Line {
  readonly id: number;
  readonly text: string;
}

/** A change of one file by one session, in terms of lines that keep their identity. */
interface Act {
  readonly session: SessionId;
  readonly path: string;
  readonly kind: 'insert' | 'replace' | 'delete' | 'remove file' | 'add file';
  /** The line that it is about, or after which it inserts; 0: the top. */
  readonly at: number;
  readonly line: Line;
}

type Files = Map<string, readonly Line[]>;

/** Plays acts; one whose line is not there changes nothing. */
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
  readonly #events = new Map<SessionId, WorktreeEvent[]>();
  #lines = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
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
      const session = this.#random.pick([...this.#events.keys()]);
      for (const one of this.#events.keys()) {
        const { shown, apart } = await this.#show(one);
        count.shown += shown;
        count.apart += apart;
      }
      const isUndone = await this.#undo(session);
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

  /** A session's file tool changes a file, and the session claims that. */
  async #act(): Promise<void> {
    const session = this.#random.pick(SESSIONS);
    const now = play(this.#start, this.#acts);
    const path = this.#random.below(8) === 0 ? `new-${this.#random.below(2)}.txt` : this.#random.pick(FILES);
    const lines = now.get(path);
    const anchor = lines === undefined || lines.length === 0 ? 0 : this.#random.pick(lines).id;
    const kind =
      lines === undefined
        ? 'add file'
        : this.#isRemovable(path, session) && this.#random.below(12) === 0
          ? 'remove file'
          : this.#random.pick(['insert', 'replace', 'replace', 'delete'] as const);
    const act: Act = { session, path, kind, at: anchor, line: this.#line(session) };
    const before = await this.#stateOf(path);
    this.#acts.push(act);
    this.#put(path, play(this.#start, this.#acts).get(path));
    const after = await this.#stateOf(path);
    if (this.#random.below(4) === 0) this.#repository.git(['add', '-A', '--', '.']);
    const base = this.#headOf(path);
    const at = this.#acts.length;
    const claim = { t: 'claim', path, base, before, after, evidence: 'explicit', weak: false, at } as const;
    this.#events.set(session, [...(this.#events.get(session) ?? []), claim]);
  }

  /** The guard lets no session remove a file that another one has added: then there is nothing to bring back. */
  #isRemovable(path: string, session: SessionId): boolean {
    const others = this.#acts.filter((act) => act.path === path && act.session !== session);
    return others.length === 0 || FILES.includes(path);
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
    return scratchStore(join(this.#repository.path, '.git'));
  }

  async #work(): Promise<DirtyWork> {
    const { path: top } = this.#repository;
    const gitDir = join(top, '.git');
    const status = await readTreeStatus(top, { now: 1000, scratch: this.#scratch });
    const ledgers = [...this.#events].map(([session, events]) => foldLedger(session, events));
    return { tree: { top, gitDir, commonDir: gitDir }, place: undefined, status, ledgers, lone: undefined };
  }

  /** The session's part of each path is what it would have made of HEAD alone, or it cannot be told. */
  async #show(session: SessionId): Promise<{ shown: number; apart: number }> {
    const work = await this.#work();
    const parts = partsOf(work, new Set([session]), []);
    const rest = parts.filter((part) => !isWhole(part, part.dirty.head));
    const { entries, contents, failed } = await addParts(work.tree, rest);
    const alone = play(
      this.#start,
      this.#acts.filter((act) => act.session === session),
    );
    for (const [path, state] of entries) {
      const kept = state?.oid === undefined || state.oid === null ? undefined : contents.get(state.oid);
      const [stored] =
        kept !== undefined || state === null || state.oid === null
          ? [kept]
          : await readContents(work.tree.top, this.#scratch, [state.oid]);
      expect({ path, text: state === null ? null : stored?.toString() }).toEqual({
        path,
        text: textOf(alone.get(path)),
      });
    }
    return { shown: parts.length - failed.length, apart: failed.length };
  }

  async #undo(session: SessionId): Promise<boolean> {
    const work = await this.#work();
    const plan = await planTakeBack(work.tree, partsOf(work, new Set([session]), []), []);
    if (plan.refused.length > 0) return false;
    await plan.batch.storeMany({ cwd: work.tree.top });
    await applyPlan(
      work.tree,
      plan.paths.map(({ planned }) => planned),
    );
    const others = play(
      this.#start,
      this.#acts.filter((act) => act.session !== session),
    );
    const paths = new Set([...FILES, ...this.#acts.map(({ path }) => path)]);
    const found = [...paths].map((path) => [path, this.#textAt(path)]);
    expect(found).toEqual([...paths].map((path) => [path, textOf(others.get(path))]));
    return true;
  }

  #textAt(path: string): string | null {
    const file = join(this.#repository.path, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  }
}

describe('what several sessions changed by turns', () => {
  const total = { undone: 0, refused: 0, shown: 0, apart: 0 };
  afterAll(() => {
    const figures = Object.entries(total).map(([what, count]) => `${what} ${count}`);
    process.stdout.write(`undo: ${figures.join(', ')} (seed ${SEED})\n`);
    if (total.undone + total.refused > 1) expect(2 * total.undone).toBeGreaterThan(total.refused);
  });

  it.each(SEEDS)('without one of them all is as if it had never been there (seed %i)', async (seed) => {
    const count = await new History(seed).play();
    for (const what of ['undone', 'refused', 'shown', 'apart'] as const) total[what] += count[what];
  });
});
