import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { amount, type Figures, type Random, seeded, Tally } from '../support/faults/seed.ts';
import { readAnswer } from '../support/hook-answer.ts';
import { SharingWorld, TEN, contextText } from '../support/sharing-world.ts';

const TREES = 10;
const SESSIONS = 30;
const FILES = Array.from({ length: 40 }, (_, n) => `src/part ${n % 4}/file-${n}.ts`);

/** Steps to choose from; those listed more often are more likely. */
const STEPS = [
  ...Array<'edit'>(60).fill('edit'),
  ...Array<'commit'>(14).fill('commit'),
  ...Array<'shell'>(6).fill('shell'),
  ...Array<'undo'>(6).fill('undo'),
  ...Array<'merge'>(6).fill('merge'),
  ...Array<'change'>(5).fill('change'),
  ...Array<'together'>(3).fill('together'),
];

interface Tree {
  readonly path: string;
  readonly branch: string;
  /** The sessions at work in this worktree. */
  readonly live: string[];
  /** By path, the sessions that changed it here by a file tool. */
  readonly changers: Map<string, Set<string>>;
}

/** What a session was told about a path and another session. */
interface Reported {
  readonly path: string;
  readonly folder: string;
  readonly names: readonly string[];
  readonly conflicts: boolean;
}

/**
 * Sessions edit, commit, merge, undo, end and begin in several worktrees, in random order. The notices of overlap after a
 * file tool are compared with what git says about the two worktrees at that moment.
 */
class WorktreeCampaign {
  readonly #random: Random;
  readonly #tally = new Tally();
  readonly #world: SharingWorld;
  readonly #trees: readonly Tree[];
  readonly #said = new Set<string>();
  readonly #missed: string[] = [];
  readonly #false: string[] = [];
  readonly #twice: string[] = [];
  /** Sessions that have not begun yet. */
  readonly #waiting: string[];
  #edits = 0;

  private constructor(random: Random, world: SharingWorld) {
    this.#random = random;
    this.#world = world;
    const ids = Array.from({ length: SESSIONS }, (_, n) =>
      (0x10000000 + 0x1111111 * n).toString(16).slice(-8),
    );
    this.#waiting = ids.map((id) => `${id}-1111-4111-8111-111111111111`);
    this.#trees = Array.from({ length: TREES }, (_, n): Tree => {
      const branch = n === 0 ? 'main' : `topic-${n}`;
      const path = n === 0 ? world.path : world.worktree(branch);
      return { path, branch, live: [], changers: new Map() };
    });
    for (const tree of this.#trees) this.#begin(tree);
  }

  /** Does this many tasks, and checks what was told. */
  static async run(random: Random, tasks: number): Promise<Figures> {
    const files = Object.fromEntries(FILES.map((name) => [name, TEN]));
    const world = new SharingWorld({ files, calls: 'thread' });
    try {
      const campaign = new WorktreeCampaign(random, world);
      for (let at = 0; at < tasks; at += 1) await campaign.#task();
      return campaign.#judge();
    } finally {
      world.remove();
    }
  }

  #judge(): Figures {
    const [due, said] = [this.#tally.of('due'), this.#tally.of('told')];
    expect(this.#twice).toEqual([]);
    expect(this.#missed.length, this.#missed.join('\n')).toBeLessThanOrEqual(due * 0.05);
    expect(this.#false.length, this.#false.join('\n')).toBeLessThanOrEqual(said * 0.01);
    expect(due).toBeGreaterThan(0);
    return { ...this.#tally.figures, missed: this.#missed.length, false: this.#false.length };
  }

  async #task(): Promise<void> {
    const tree = this.#random.pick(this.#trees);
    for (let steps = 1 + this.#random.below(5); steps > 0; steps -= 1) {
      const session = this.#random.pick(tree.live);
      const step = this.#random.pick(STEPS);
      this.#tally.add(step);
      if (step === 'edit') this.#edit(tree, session, this.#anyFile());
      else if (step === 'commit') this.#commit(tree, session);
      else if (step === 'shell') this.#shell(tree, session);
      else if (step === 'undo') this.#undo(tree);
      else if (step === 'merge') this.#merge(tree);
      else if (step === 'change') this.#change(tree, session);
      else await this.#together(tree, session);
    }
  }

  /** A random file; some files are shared by all. */
  #anyFile(): string {
    return this.#random.pick(this.#random.below(3) === 0 ? FILES.slice(0, 6) : FILES);
  }

  #begin(tree: Tree): void {
    const session = this.#waiting.shift();
    if (session === undefined) return;
    this.#world.begin(session, tree.path);
    tree.live.push(session);
  }

  /** Another session begins in the worktree; `session` ends, or stays beside it. */
  #change(tree: Tree, session: string): void {
    if (this.#waiting.length === 0) return;
    if (this.#random.below(3) > 0 || tree.live.length > 2) {
      this.#world.end(session, tree.path);
      tree.live.splice(tree.live.indexOf(session), 1);
    }
    this.#begin(tree);
  }

  /** The file's text with one line changed or added. */
  #next(tree: Tree, path: string): string {
    const lines = readFileSync(join(tree.path, path), 'utf8').split('\n');
    this.#edits += 1;
    lines[this.#random.below(10)] = `changed ${this.#edits}`;
    return lines.join('\n');
  }

  #edit(tree: Tree, session: string, path: string): void {
    const content = this.#next(tree, path);
    if (this.#world.try(session, path, content, tree.path).kind === 'deny') return;
    const text = contextText(this.#world.wrote(session, path, content, tree.path));
    this.#wrote(tree, session, path);
    this.#compare(tree, session, path, text);
  }

  #wrote(tree: Tree, session: string, path: string): void {
    tree.changers.set(path, (tree.changers.get(path) ?? new Set()).add(session));
  }

  #commit(tree: Tree, session: string): void {
    this.#world.handoff(['commit', '-m', 'task'], { cwd: tree.path, session });
  }

  #shell(tree: Tree, session: string): void {
    const file = this.#anyFile();
    this.#world.bash(session, `sed -i '${1 + this.#random.below(10)}s/$/ more/' '${file}'`, {
      cwd: tree.path,
    });
  }

  #undo(tree: Tree): void {
    if (tree.live.length > 1) return;
    this.#world.git(['checkout', '-q', '--', this.#anyFile()], { cwd: tree.path });
  }

  #merge(tree: Tree): void {
    const { branch } = this.#random.pick(this.#trees);
    const merge = this.#world.run('git', ['merge', '-q', '--no-edit', branch], { cwd: tree.path });
    if (merge.status !== 0) this.#world.run('git', ['merge', '--abort'], { cwd: tree.path });
  }

  /** Two sessions write one file at once: at least one of them is told. */
  async #together(tree: Tree, session: string): Promise<void> {
    const other = this.#random.pick(this.#trees.filter((one) => one !== tree));
    const path = this.#anyFile();
    const both = [
      { at: tree, who: session },
      { at: other, who: this.#random.pick(other.live) },
    ];
    if (both.some(({ at, who }) => this.#world.try(who, path, '', at.path).kind === 'deny')) return;
    for (const { at, who } of both) {
      writeFileSync(join(at.path, path), this.#next(at, path));
      this.#wrote(at, who, path);
    }
    const due = both.map(({ at, who }, n) => this.#isDue(at, who, path, both[1 - n]?.at));
    const texts = await Promise.all(
      both.map(async ({ at, who }) => {
        const input = { file_path: join(at.path, path), content: '' };
        const call = {
          session_id: who,
          hook_event_name: 'PostToolUse',
          tool_name: 'Write',
          tool_input: input,
        };
        const run = await this.#world.startGuard({ ...call, cwd: at.path }, { cwd: at.path });
        return contextText(readAnswer(run, 'PostToolUse'));
      }),
    );
    if (due[0] === true && due[1] === true) {
      this.#tally.add('due at once');
      const isTold = both.some(({ at }, n) =>
        reportedIn(texts[1 - n] ?? '').some(({ folder }) => folder === at.path),
      );
      expect(isTold, `two at once: ${path}`).toBe(true);
    }
    for (const [n, { at, who }] of both.entries()) this.#note(at, who, texts[n] ?? '');
  }

  /** Checks that the text has every notice that is due, and no false one. */
  #compare(tree: Tree, session: string, path: string, text: string): void {
    const due = this.#trees.filter((other) => this.#isDue(tree, session, path, other));
    const said = this.#note(tree, session, text);
    for (const other of due) {
      this.#tally.add('due');
      if (!said.some(({ folder }) => folder === other.path))
        this.#missed.push(`${session} ${tree.path} ${path}: ${other.path}`);
    }
  }

  /** Whether a live session's change by a file tool overlaps, and this session has not been told of it. */
  #isDue(tree: Tree, session: string, path: string, other: Tree | undefined): boolean {
    if (other === undefined || other === tree || this.#overlap(tree, other, path) === undefined) return false;
    const changers = other.live.filter((one) => other.changers.get(path)?.has(one) === true);
    return changers.length > 0 && !other.live.some((one) => this.#said.has(keyOf(session, path, short(one))));
  }

  /** Records the notices that a session was given, and those that are false or repeated. */
  #note(tree: Tree, session: string, text: string): Reported[] {
    const said = reportedIn(text);
    for (const { path, folder, names, conflicts } of said) {
      this.#tally.add('told');
      if (conflicts) this.#tally.add('told of a conflict');
      const other = this.#trees.find((one) => one.path === folder);
      const overlap = other === undefined ? undefined : this.#overlap(tree, other, path);
      const isThere = names.every((name) => other?.live.some((one) => short(one) === name) === true);
      const what = `${session} ${tree.path} ${path}: ${names.join(' ')} in ${folder}, ${conflicts ? 'conflicts' : 'merges'}`;
      if (overlap === undefined || !isThere || overlap.conflicts !== conflicts) this.#false.push(what);
      const keys = names.map((name) => keyOf(session, path, name) + (conflicts ? ' conflicts' : ''));
      if (keys.every((key) => this.#said.has(key))) this.#twice.push(what);
      for (const name of names) this.#said.add(keyOf(session, path, name));
      for (const key of keys) this.#said.add(key);
    }
    return said;
  }

  /** How a path's present contents in two worktrees overlap, as git says; `undefined` if they do not. */
  #overlap(one: Tree, other: Tree, path: string): { conflicts: boolean } | undefined {
    const base = this.#world.git(['merge-base', one.branch, other.branch]);
    const common = this.#world.git(['show', `${base}:${path}`]) + '\n';
    const [mine, theirs] = [one, other].map((tree) => readFileSync(join(tree.path, path), 'utf8'));
    if (mine === undefined || theirs === undefined) return undefined;
    if (mine === common || theirs === common || mine === theirs) return undefined;
    const files = [mine, common, theirs].map((content, n) => {
      const file = join(this.#world.root, `side-${n}`);
      writeFileSync(file, content);
      return file;
    });
    return { conflicts: this.#world.run('git', ['merge-file', '-p', '-q', ...files]).status !== 0 };
  }
}

const short = (session: string) => session.slice(0, 8);
const keyOf = (session: string, path: string, other: string) => `${session} ${path} ${other}`;

/** The notices of overlap in what a session was told. */
function reportedIn(text: string): Reported[] {
  return text.split('\n').flatMap((line): Reported[] => {
    const match = /^(?:git-handoff: )?(.+?) is also changed in (.+) \(branch .+?\), where (.+?) works: /.exec(
      line,
    );
    if (match === null) return [];
    const [, path = '', folder = '', who = ''] = match;
    const names = [...who.matchAll(/claude ([0-9a-f]{8})/g)].map(([, name = '']) => name);
    return [{ path: path.replace(/^'|'$/g, ''), folder, names, conflicts: line.includes('It conflicts') }];
  });
}

it.each(Array.from({ length: amount(1, 5) }, (_, at) => at))(
  'thirty sessions in ten worktrees hear of each other’s changes, campaign %i',
  (at) =>
    seeded(`edits in worktrees ${at}`, async (random) => {
      const figures = await WorktreeCampaign.run(random, amount(40, 200));
      expect(figures['told']).toBeGreaterThan(0);
      return figures;
    }),
);
