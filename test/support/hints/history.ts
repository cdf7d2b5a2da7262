import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { Random } from '../faults/seed.ts';
import { A, B, C, TEN } from '../sharing-world.ts';
import { FILES, type Kind, commandOf, elsewhere, endingOf, pickKind } from './acts.ts';
import { type Dirty, Marks, PERSON, added, headOf, marksOf, uncommitted } from './marks.ts';
import { Model, type Verdict } from './model.ts';
import { hintsIn, reasonIn, takenPaths } from './typed.ts';
import { FORMATS, HintsWorld } from './world.ts';

/** A hint, and what it leads to, until the goal is reached. */
const MAX_STEPS = 3;

/** A machine that is too busy let a commit pass unchecked: such a history shows nothing. */
class Unchecked extends Error {}

/** What came of a command: said to the session, and whether it was refused. */
interface Outcome {
  readonly refused: boolean;
  readonly status: number;
  readonly text: string;
}

/** Another's merge, rebase …: there is nothing to type but to wait, or to work elsewhere. */
const isWait = (text: string) => /began an? (?:merge|cherry-pick|revert|rebase|am) here/.test(text);
/** Lines that have to be brought together in the file, by whoever knows what they mean. */
const BY_HAND = /^error: (.*): HEAD has a new change where this session/m;
/** HEAD is not where the session last saw it. */
const isMoved = (text: string) => /^error: expected .*, HEAD is /m.test(text);

/** It names the files that it writes. */
const isNamed = (command: string) => /^(?:cd \S+ && )?sed -i /.test(command);

/** It commits what git has stopped in. */
const FINISHES = /\bgit (?:-C \S+ )?(?:commit\b|(?:cherry-pick|revert) --continue)/;

/** A working tree of a history. */
interface Place {
  readonly top: string;
  readonly model: Model;
  /** Marks that another clone has published: no commit there may take them back. */
  readonly published: Set<string>;
  /** Those that HEAD has gained and the files have not, with the sessions that have changed the file since. */
  readonly behind: Map<string, Set<string>>;
  /** The branch that was checked out there at each session's last command; a file tool says nothing of it. */
  readonly seen: Map<string, string>;
  /** The session that began what git has stopped in there. */
  beginner?: string | undefined;
}

/** One history of sessions in one repository, with every hint of every refusal typed as it stands. */
export class History {
  readonly #world: HintsWorld;
  readonly #random: Random;
  readonly #marks = new Marks();
  readonly #sessions: readonly string[];
  readonly #places: readonly Place[];
  /** Marks that a session's command left by the way in another's file: each of the two may commit them. */
  readonly #touches = new Map<string, string>();
  /** All marks that another clone has ever published. */
  readonly #published = new Set<string>();
  /** Who made which entry of the stash. */
  readonly #stashes = new Map<string, string>();
  /** Who typed a commit that finished a pick or a revert: git's own message names nobody. */
  readonly #finished = new Map<string, string>();
  /** What was typed, for the failure's text. */
  readonly #log: string[] = [];
  /** How many hints were typed, and how many verdicts were as the model had told before. */
  readonly figures = { hints: 0, predicted: 0 };
  /** Verdicts that the model had not told, in words. */
  readonly unforeseen: string[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#sessions = this.#random.below(3) === 0 ? [A, B, C] : [A, B];
    this.#world = new HintsWorld(this.#sessions, this.#random.pick(FORMATS));
    this.#places = this.#world.tops.map((top) => ({
      top,
      model: new Model(this.#marks),
      published: new Set(),
      behind: new Map(),
      seen: new Map(this.#sessions.map((session) => [session, this.#world.branch(top)])),
    }));
  }

  /** Plays it; false when the machine was too busy to tell. */
  play(steps: number): boolean {
    try {
      for (let n = 0; n < steps; n += 1) this.#step(pickKind(this.#random));
      return true;
    } catch (error) {
      if (error instanceof Unchecked) return false;
      if (error instanceof Error) error.message += `\n\n${this.#log.join('\n')}`;
      throw error;
    } finally {
      this.#world.remove();
    }
  }

  #step(kind: Kind): void {
    const random = this.#random;
    const session = random.pick(this.#sessions);
    const place = this.#places[random.below(6) < 4 ? 0 : 1 + random.below(2)]!;
    const file = random.pick(FILES);
    const mark = this.#marks.make(kind.startsWith('person') ? PERSON : session);
    const operation = this.#world.operation(place.top);
    if (operation !== undefined && place.beginner !== undefined && random.below(2) === 0) {
      this.#act(place.beginner, 'ending', endingOf(operation, random), place);
    } else if (kind === 'person writes') {
      this.#personWrites(file, mark, place);
    } else if (kind === 'write') {
      this.#write(session, file, mark, place);
    } else {
      if (kind === 'fetched HEAD') this.#publish(place.top);
      if (random.below(4) === 0) this.#feature(place.top);
      const command = commandOf(kind, random, mark);
      if (kind.startsWith('person')) this.#personTypes(command, place);
      else this.#act(session, kind, command, place);
    }
  }

  #act(session: string, kind: Kind | 'ending', command: string, place: Place): void {
    const { top } = place;
    const typed = elsewhere(command, this.#random, top);
    // With `cd` or `-C` it is still the same command at the top.
    const isPlain = typed.command === command;
    // Typed above the repository, a command without git finds nothing there.
    const isOutside = isPlain && typed.folder === '..';
    const folder = isPlain && typed.folder === 'src' ? 'src/' : '';
    const foresee = () => (isOutside ? 'passes' : this.#verdict(session, command, folder, place));
    const cwd = join(top, typed.folder);
    const before = uncommitted(this.#world, top);
    this.#do(session, typed.command, cwd, place, foresee);
    if (kind === 'lockfile') this.#giveTouch(session, place, before);
  }

  #verdict(session: string, command: string, folder: string, place: Place): Verdict {
    const { top, model, seen, beginner } = place;
    const operation = this.#world.operation(top);
    const dirty = uncommitted(this.#world, top);
    const [newest] = this.#world.stashes();
    const stashed = newest === undefined ? undefined : (this.#stashes.get(newest) ?? PERSON);
    return model.foresee(command, {
      session,
      folder,
      dirty,
      stashed,
      isElsewhere: seen.get(session) !== this.#world.branch(top),
      operation,
      isOthers: operation !== undefined && beginner !== session,
      isStale: (one) =>
        (operation === undefined && one.xy === 'UU') || this.#lacking(session, one, place) !== undefined,
      clashes: (one) => this.#lacking(session, one, place) === 'clash',
      exists: (path) => existsSync(join(top, path)),
      left: (to) => this.#world.left(to, top),
      stops: (operation) => this.#world.stops(operation, top),
    });
  }

  /** HEAD has a line of another clone that is not on the disk, and whoever changed that very line could not know it. */
  #lacking(session: string, dirty: Dirty, { top, model, behind }: Place): 'clash' | 'line' | undefined {
    const { path, text = '' } = dirty;
    const head = this.#world.run('git', ['show', `HEAD:${path}`], { cwd: top }).stdout;
    const missing = [...behind].flatMap(([placed, since]) => {
      const mark = placed.slice(path.length + 1);
      if (placed !== `${path} ${mark}` || !head.includes(mark) || text.includes(mark)) return [];
      if (!this.#world.clash(text, head.replace(`${mark} `, ''), head)) return ['line' as const];
      return since.has(session) && model.owners(dirty).includes(session) ? [] : ['clash' as const];
    });
    return missing.find((one) => one === 'clash') ?? missing[0];
  }

  #personWrites(file: string, mark: string, place: Place): void {
    const { top, model } = place;
    this.#log.push(`a person writes ${mark} to ${file} in ${top}`);
    const before = uncommitted(this.#world, top);
    const path = join(top, file);
    mkdirSync(dirname(path), { recursive: true });
    const text = existsSync(path) ? this.#world.read(file, top) : TEN;
    const line = new RegExp(`^line ${1 + this.#random.below(9)}\\b.*$`, 'm');
    writeFileSync(path, line.test(text) ? text.replace(line, mark) : `${text}${mark}\n`);
    const after = uncommitted(this.#world, top);
    this.#editedSince(place, before, after);
    model.changed(PERSON, before, after);
  }

  /** Nobody refuses a person; what it commits is nobody's afterwards. */
  #personTypes(command: string, place: Place): void {
    const { top, model } = place;
    const before = uncommitted(this.#world, top);
    const head = headOf(this.#world, top);
    const { status, stderr } = this.#world.run('bash', ['-c', command], { cwd: top });
    this.#log.push(`a person in ${top}: ${command}\n  -> ${status} ${stderr}`);
    expect(stderr).not.toMatch(/^hint: .*git.* handoff/m);
    const after = uncommitted(this.#world, top);
    const gone = [...before.keys()].filter((path) => !after.has(path));
    const marks = gone.flatMap((path) => before.get(path)?.marks ?? []);
    this.#marks.give(marks, PERSON);
    this.#moved(place, before, after, head);
    model.changed(PERSON, before, after);
    if (this.#world.operation(top) === undefined) place.beginner = undefined;
  }

  /** Another clone has published a line on top of what is checked out here. */
  #publish(top: string): void {
    const path = this.#random.pick(['src/a.ts', 'shared.md']);
    const mark = this.#marks.make(PERSON);
    for (const { published } of this.#places) published.add(`${path} ${mark}`);
    this.#published.add(`${path} ${mark}`);
    this.#world.advance('origin/main', path, 1 + this.#random.below(10), mark, 'HEAD', top);
  }

  #feature(top: string): void {
    const mark = this.#marks.make(PERSON);
    const from = this.#random.pick(['feature', 'HEAD', 'HEAD~1']);
    this.#world.advance('feature', 'src/a.ts', 1 + this.#random.below(10), mark, from, top);
  }

  /** What a command changes by the way in another's file is a touch: the file's owner does with it as it likes. */
  #giveTouch(session: string, { top, model }: Place, before: ReadonlyMap<string, Dirty>): void {
    for (const { path, text, marks } of uncommitted(this.#world, top).values()) {
      const was = before.get(path);
      if (was?.text === text) continue;
      const mine = marks.filter((mark) => this.#marks.owner(mark) === session);
      const owners = [
        ...marks.map((mark) => this.#marks.owner(mark)),
        ...(was === undefined ? [] : model.owners(was)),
      ];
      const owner =
        owners.find((one) => one !== session && one !== PERSON) ?? owners.find((one) => one !== session);
      const [touch] = mine;
      if (mine.length !== 1 || touch === undefined || owner === undefined) continue;
      this.#marks.give([touch], owner);
      this.#touches.set(touch, session);
    }
  }

  #write(session: string, file: string, mark: string, place: Place): void {
    const { top, model } = place;
    const before = uncommitted(this.#world, top);
    const isThere = existsSync(join(top, file));
    const text = isThere
      ? this.#world.read(file, top).replace(/^.*\n/, (line) => `${line}${mark}\n`)
      : `${mark}\n`;
    const dirty = before.get(file);
    const verdict = model.verdict(session, dirty === undefined ? [] : [dirty]);
    const answer = this.#world.write(session, file, text, top);
    this.#log.push(`${session[0]} writes ${mark} to ${file} in ${top}: ${answer.kind}`);
    this.#count(`write ${file}`, verdict, answer.kind === 'deny', answer.kind === 'deny' ? answer.text : '');
    if (answer.kind === 'deny') {
      if (this.#random.below(3) === 0) this.#follow(session, `write ${file}`, answer.text, top, place);
    } else {
      const after = uncommitted(this.#world, top);
      this.#editedSince(place, before, after);
      model.changed(session, before, after, true);
      this.#changedSince(session, place, before, after);
    }
  }

  #count(command: string, verdict: Verdict, refused: boolean, text: string): void {
    if (refused === (verdict === 'refused')) this.figures.predicted += 1;
    else this.unforeseen.push(`${command}\n  -> ${refused ? `refused: ${text}` : 'passes'}`);
  }

  /** Does it, and follows the hints when it is refused until what was meant is done. */
  #do(
    session: string,
    command: string,
    cwd: string,
    place: Place,
    foresee: () => Verdict,
    again = false,
  ): void {
    const { top } = place;
    const verdict = foresee();
    const meant = this.#meant(session, command, place);
    const outcome = this.#type(session, command, cwd, place, 'bash');
    this.#count(command, verdict, outcome.refused, outcome.text);
    if (!outcome.refused) return;
    const said = this.#follow(session, command, outcome.text, cwd, place);
    if (isWait(outcome.text)) return;
    // On the right branch again, or told where it is: now it can be done.
    if (isMoved(outcome.text)) {
      expect({ command, again, text: outcome.text }).toMatchObject({ again: false });
      this.#do(session, command, cwd, place, foresee, true);
      return;
    }
    if (!/\bcommit\b/.test(command) || /(?:handoff commit|commit -m only) .*-- /.test(command)) return;
    const now = marksOf(uncommitted(this.#world, top));
    // What is in conflict is for whoever knows what it means.
    if (this.#world.operation(top) !== undefined) return;
    const byHand = BY_HAND.exec(said)?.[1] ?? '';
    const left = meant.filter(
      (mark) => now.includes(mark) && !byHand.includes(mark.replace(/ mark\w+$/, '')),
    );
    expect({ session, command, said, left }).toMatchObject({ left: [] });
  }

  /**
   * This session's marks in files that the command reaches and nobody else has changed; `-a` leaves new files alone. A
   * command makes nobody the owner of what was changed and nobody's before.
   */
  #meant(session: string, command: string, { top, model }: Place): string[] {
    const named = /\bgit (?:-C \S+ )?add -- '(.*?)'/.exec(command)?.[1];
    if (named !== undefined) return [];
    if (!/\bcommit\b/.test(command)) return [];
    const known = this.#world.git(['ls-files', '-z'], { cwd: top }).split('\0');
    const reaches = (path: string) => !/\bcommit -a\b/.test(command) || known.includes(path);
    return [...uncommitted(this.#world, top).values()]
      .filter((dirty) => reaches(dirty.path) && model.owners(dirty).every((owner) => owner === session))
      .filter(({ marks }) => marks.every((mark) => this.#marks.owner(mark) === session))
      .flatMap(({ marks }) => marks);
  }

  /** Types what is told; returns all that was said on the way. */
  #follow(session: string, command: string, text: string, cwd: string, place: Place): string {
    let all = text;
    let said = text;
    let asked = command;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const [hint, ...others] = hintsIn(said);
      expect({ asked, said, hint }).not.toMatchObject({ hint: undefined });
      expect({ said, hint }).not.toMatchObject({ hint: asked });
      this.#namesNobodys(session, hint ?? '', place);
      const outcome = this.#type(session, hint ?? '', cwd, place, this.#random.pick(this.#world.shells));
      this.figures.hints += 1;
      all += outcome.text;
      if (outcome.refused) {
        expect(reasonIn(outcome.text), `${asked}\n${said}\n${hint}`).not.toBe(reasonIn(said));
        said = outcome.text;
        asked = hint ?? '';
        continue;
      }
      if (this.#isUpToGit(hint ?? '', outcome, place)) return all;
      expect({ command, said, hint, status: outcome.status, text: outcome.text }).toMatchObject({
        status: 0,
      });
      for (const other of others) all += this.#typeOther(session, other, cwd, place);
      return all;
    }
    throw new Error(`no way out of: ${command}\n${said}`);
  }

  /** A merge or a rebase stops at a conflict, and git itself does not merge over uncommitted work; it says so. */
  #isUpToGit(hint: string, { text }: Outcome, { top }: Place): boolean {
    if (/ --continue$/.test(hint)) return this.#world.operation(top) !== undefined;
    if (!/\bgit (?:-C \S+ )?(?:merge|stash apply)\b/.test(hint)) return false;
    return /would be overwritten by merge/.test(text) || this.#world.operation(top) === 'merge';
  }

  /** Only a take names what is another's alone, and what takes it out of the index. */
  #namesNobodys(session: string, hint: string, { top, model }: Place): void {
    if (/\bhandoff take\b|\bgit (?:-C \S+ )?reset -q /.test(hint)) return;
    const isTheirs = (mark: string) => ![session, PERSON].includes(this.#marks.owner(mark));
    const dirty = [...uncommitted(this.#world, top).values()];
    const theirs = dirty
      .filter(({ marks }) => marks.length > 0 && marks.every(isTheirs))
      .filter((one) => !model.hasPart(session, one));
    // `src/x` is not `x`.
    const others = dirty.filter((one) => !theirs.includes(one)).map(({ path }) => path);
    const rest = others.reduce((text, path) => text.replaceAll(path, ''), hint);
    const named = theirs.map(({ path }) => path).filter((path) => rest.includes(path));
    expect({ hint, named }).toEqual({ hint, named: [] });
  }

  #typeOther(session: string, hint: string, cwd: string, place: Place): string {
    const outcome = this.#type(session, hint, cwd, place, this.#random.pick(this.#world.shells));
    this.figures.hints += 1;
    const isDone = outcome.refused || this.#isUpToGit(hint, outcome, place);
    if (!isDone) expect({ hint, ...outcome }).toMatchObject({ status: 0 });
    return outcome.text;
  }

  /** Types a command as the client does; nobody else's work may be lost by it, or be in its commit. */
  #type(session: string, command: string, cwd: string, place: Place, shell: string): Outcome {
    const { top } = place;
    const before = uncommitted(this.#world, top);
    const head = headOf(this.#world, top);
    const unchecked = this.#unchecked();
    // Somebody may have removed all that was in it.
    mkdirSync(cwd, { recursive: true });
    if (/\bhandoff take\b/.test(command)) {
      const taken = takenPaths(command, cwd, top).filter((path) => before.has(path));
      for (const path of taken) this.#marks.give(before.get(path)?.marks ?? [], session);
      for (const known of [place.published, place.behind])
        for (const mark of known.keys())
          if (taken.some((path) => mark.startsWith(`${path} `))) known.delete(mark);
      place.model.took(taken, session);
    }
    const { before: answer, run } = this.#world.bash(session, command, { cwd, shell });
    const outcome =
      answer.kind === 'deny'
        ? { refused: true, status: 1, text: answer.text }
        : {
            refused:
              run?.status !== 0 &&
              /^error: .*\n(?:.*\n)*hint: (?:GIT_INDEX_FILE=\S+ )?git (?:-C|handoff|worktree)/m.test(
                run?.stderr ?? '',
              ),
            status: run?.status ?? 0,
            text: run?.stderr ?? '',
          };
    const where = shell === 'bash' ? '' : ` (${shell})`;
    this.#log.push(`${session[0]} in ${cwd}${where}: ${command}\n  -> ${outcome.status} ${outcome.text}`);
    if (this.#unchecked() > unchecked) throw new Unchecked();
    expect(outcome.text).not.toContain('not a git repository');
    this.#compare(session, command, place, before, head);
    place.seen.set(session, this.#world.branch(top));
    return outcome;
  }

  #compare(session: string, command: string, place: Place, before: Map<string, Dirty>, head: string): void {
    const { top, model } = place;
    const isOthers = (mark: string) => ![session, PERSON].includes(this.#marks.owner(mark));
    const after = uncommitted(this.#world, top);
    const now = new Set(marksOf(after));
    const there = headOf(this.#world, top);
    const moved = there !== head;
    const taken = moved ? added(this.#world, top, head, there) : [];
    const isTouch = (mark: string) => this.#touches.get(mark) === session && taken.includes(mark);
    const theirs = marksOf(before).filter((mark) => isOthers(mark) && !isTouch(mark));
    expect({ command, lost: theirs.filter((mark) => !now.has(mark)) }).toEqual({ command, lost: [] });
    expect({ command, taken: taken.filter((mark) => theirs.includes(mark)) }).toEqual({ command, taken: [] });
    const undone =
      moved && this.#isBefore(head, there, top)
        ? added(this.#world, top, there, head).filter((mark) => place.published.has(mark))
        : [];
    if (/\brevert\b/.test(command)) for (const mark of undone) place.published.delete(mark);
    else expect({ command, undone }).toEqual({ command, undone: [] });
    if (moved && FINISHES.test(command)) this.#finished.set(there, session);
    this.#learn(session, place, before, after, { moved, named: isNamed(command) });
    this.#moved(place, before, after, head);
    for (const oid of this.#world.stashes()) if (!this.#stashes.has(oid)) this.#stashes.set(oid, session);
    if (!moved) this.#editedSince(place, before, after);
    const isBack = moved && this.#isBefore(there, head, top);
    // Where HEAD goes back, what it has again is what a commit took away.
    if (!isBack) this.#fallBehind(place, after, taken);
    const operation = this.#world.operation(top);
    if (operation === undefined) place.beginner = undefined;
    else place.beginner ??= session;
    const own = moved ? this.#world.commits(session, head, there, top) : [];
    for (const [parent, oid] of own) {
      const isFree = (mark: string) => this.#marks.owner(mark) === PERSON;
      const marks = added(this.#world, top, parent, oid);
      this.#marks.give(
        marks.filter((mark) => taken.includes(mark) && isFree(mark)),
        session,
      );
    }
    model.changed(session, before, after, isNamed(command));
    this.#changedSince(session, place, before, after);
  }

  /** HEAD has gained lines of another clone, and the files have not. */
  #fallBehind({ behind }: Place, after: ReadonlyMap<string, Dirty>, gained: readonly string[]): void {
    let hasFallen = false;
    for (const placed of gained) {
      const [, path = '', mark = ''] = /^(.*) (\S+)$/.exec(placed) ?? [];
      const dirty = after.get(path);
      if (!this.#published.has(placed) || dirty === undefined || dirty.text?.includes(mark) === true)
        continue;
      behind.set(placed, new Set());
      hasFallen = true;
    }
    // The reflog counts in seconds, and by it it is told who could know what.
    if (hasFallen) this.#world.nextSecond();
  }

  /** Whoever changes its own file after HEAD has gained a line there had the chance to see it. */
  #changedSince(
    session: string,
    { behind, model }: Place,
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
  ): void {
    for (const [placed, since] of behind) {
      const path = placed.slice(0, placed.lastIndexOf(' '));
      const dirty = after.get(path);
      if (dirty === undefined || before.get(path)?.text === dirty.text) continue;
      if (model.owners(dirty).includes(session)) since.add(session);
    }
  }

  /** Whose the marks are that a command has brought into the tree. */
  #learn(
    session: string,
    place: Place,
    before: Map<string, Dirty>,
    after: Map<string, Dirty>,
    { moved, named }: { readonly moved: boolean; readonly named: boolean },
  ): void {
    const was = new Set(marksOf(before));
    const fresh = marksOf(after).filter((mark) => !was.has(mark));
    const isStopped = this.#world.operation(place.top) !== undefined;
    const isBack = (mark: string) => place.model.isBack(after.get(mark.slice(0, mark.lastIndexOf(' '))));
    const own = fresh.filter((mark) => !isBack(mark));
    if (!moved || isStopped) this.#marks.give(own, session);
    if (named) return;
    const isNobodys = (mark: string) =>
      place.model.isNobodys(before.get(mark.slice(0, mark.lastIndexOf(' '))));
    this.#marks.give(own.filter(isNobodys), PERSON);
  }

  /** Tells the model when HEAD is elsewhere than before. */
  #moved(
    { top, model }: Place,
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    head: string,
  ): void {
    const there = headOf(this.#world, top);
    if (there === head) return;
    // What an operation has taken down, it will put back.
    const isStopped = this.#world.operation(top) !== undefined;
    const makers = (from: string, to: string) => this.#world.makers(from, to, top, this.#finished);
    const undone = isStopped ? new Map<string, never>() : makers(there, head);
    model.moved(before, after, undone, makers(head, there));
  }

  /** Whoever changes a file after HEAD has gained a line there is taken to know that line. */
  #editedSince({ published }: Place, before: Map<string, Dirty>, after: Map<string, Dirty>): void {
    for (const { path, text } of after.values()) {
      if (before.get(path)?.text === text) continue;
      for (const mark of published) if (mark.startsWith(`${path} `)) published.delete(mark);
    }
  }

  /** One commit is an ancestor of another. */
  #isBefore(one: string, other: string, cwd: string): boolean {
    return this.#world.run('git', ['merge-base', '--is-ancestor', one, other], { cwd }).status === 0;
  }

  #unchecked(): number {
    return this.#world.guardLog().split('unchecked').length;
  }
}
