import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'vitest';
import { Random } from '../../support/faults/seed.ts';
import { A, B, C, TEN } from '../../support/sharing-world.ts';
import { FILES, type Kind, commandOf, elsewhere, endingOf, pickKind } from './acts.ts';
import { type Dirty, Marks, PERSON, added, headOf, marksOf, uncommitted } from './marks.ts';
import { Owners } from './owners.ts';
import { typedHints } from '../../support/commit-hooks-world.ts';
import { FORMATS, HintsWorld } from './world.ts';

/** The most hints that may follow each other until the goal is reached. */
const MAX_STEPS = 3;

/** Thrown when a commit passed unchecked because the machine was too busy: such a history proves nothing. */
class Unchecked extends Error {}

/** The result of a command: what the session was told, and whether the command was refused. */
interface Outcome {
  readonly refused: boolean;
  readonly status: number;
  readonly text: string;
}

/** Another session's merge, rebase … is unfinished. There is nothing to type: the session must wait or work elsewhere. */
const isWait = (text: string) => /began an? (?:merge|cherry-pick|revert|rebase|am) here/.test(text);
/** Another session's work is in the way of an edit: the text says to wait, and who will be told. */
const isStatedWait = (text: string) =>
  /will be told\. Work on something else, and try again later\./.test(text);
/** Lines overlap: somebody must merge them in the file, or the session must wait for their owner. */
const BY_HAND =
  /^error: (.*): (?:HEAD has a new change where this session|the changes of this session .* overlap or touch)/m;
/** HEAD is not where the session last saw it. */
const isMoved = (text: string) => /^error: this session was on .*, but the worktree is on /m.test(text);

/** Whether a command names the files that it writes. */
const isNamed = (command: string) => /^(?:cd \S+ && )?sed -i /.test(command);

/** A command that commits the operation in which git has stopped. */
const FINISHES = /\bgit (?:-C \S+ )?(?:commit\b|(?:cherry-pick|revert) --continue)/;

/** A working tree of a history. */
interface Place {
  readonly top: string;
  readonly owners: Owners;
  /** Marks that another clone has published: no commit in this worktree may undo them. */
  readonly published: Set<string>;
  /** The session that began the operation in which git has stopped in this worktree. */
  beginner?: string | undefined;
}

/** One history of sessions in one repository, with every hint of every refusal typed as printed. */
export class History {
  readonly #world: HintsWorld;
  readonly #random: Random;
  readonly #marks = new Marks();
  readonly #sessions: readonly string[];
  readonly #places: readonly Place[];
  /** Marks that a session's command left incidentally in another session's file. Both sessions may commit such a mark. */
  readonly #touches = new Map<string, string>();
  /** Who typed each commit that finished a cherry-pick or a revert: git's own message names nobody. */
  readonly #finished = new Map<string, string>();
  /** What was typed, to be shown after a failure. */
  readonly #log: string[] = [];
  /** How many hints were typed. */
  hints = 0;
  /** Commands that were refused though nobody else had anything to lose, with the refusals. */
  readonly needless: string[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#sessions = this.#random.below(3) === 0 ? [A, B, C] : [A, B];
    this.#world = new HintsWorld(this.#sessions, this.#random.pick(FORMATS));
    this.#places = this.#world.tops.map((top) => ({
      top,
      owners: new Owners(this.#marks),
      published: new Set(),
    }));
  }

  /** Plays the history; false if the machine was too busy to check it. */
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
    const cwd = join(top, typed.folder);
    const before = uncommitted(this.#world, top);
    this.#do(session, typed.command, cwd, place);
    if (kind === 'lockfile' || kind === 'pick') this.#giveTouch(session, place, before);
  }

  #personWrites(file: string, mark: string, place: Place): void {
    const { top, owners } = place;
    this.#log.push(`a person writes ${mark} to ${file} in ${top}`);
    const before = uncommitted(this.#world, top);
    const path = join(top, file);
    mkdirSync(dirname(path), { recursive: true });
    const text = existsSync(path) ? this.#world.read(file, top) : TEN;
    const line = new RegExp(`^line ${1 + this.#random.below(9)}\\b.*$`, 'm');
    writeFileSync(path, line.test(text) ? text.replace(line, mark) : `${text}${mark}\n`);
    const after = uncommitted(this.#world, top);
    this.#editedSince(place, before, after);
    owners.changed(PERSON, before, after);
  }

  /** Types a person's command. It is never refused, and what it commits has no owner afterwards. */
  #personTypes(command: string, place: Place): void {
    const { top, owners } = place;
    const before = uncommitted(this.#world, top);
    const head = headOf(this.#world, top);
    const { status, stderr } = this.#world.run('bash', ['-c', command], { cwd: top });
    this.#log.push(`a person in ${top}: ${command}\n  -> ${status} ${stderr}`);
    expect(stderr).not.toMatch(/^hint: .*git.* handoff/m);
    const after = uncommitted(this.#world, top);
    const gone = [...before.keys()].filter((path) => !after.has(path));
    const marks = gone.flatMap((path) => before.get(path)?.marks ?? []);
    this.#marks.give(marks, PERSON);
    // A rebase of the person's commit may undo again the marks that the commit has undone.
    for (const mark of this.#undone(place, head, headOf(this.#world, top))) place.published.delete(mark);
    this.#moved(place, before, after, head);
    owners.changed(PERSON, before, after);
    if (this.#world.operation(top) === undefined) place.beginner = undefined;
  }

  /** Another clone publishes a line on top of what is checked out here. */
  #publish(top: string): void {
    const path = this.#random.pick(['src/a.ts', 'shared.md']);
    const mark = this.#marks.make(PERSON);
    for (const { published } of this.#places) published.add(`${path} ${mark}`);
    this.#world.advance('origin/main', path, 1 + this.#random.below(10), mark, 'HEAD', top);
  }

  #feature(top: string): void {
    const mark = this.#marks.make(PERSON);
    const from = this.#random.pick(['feature', 'HEAD', 'HEAD~1']);
    this.#world.advance('feature', 'src/a.ts', 1 + this.#random.below(10), mark, from, top);
  }

  /** Gives a command's incidental changes in another session's file to the file's owner, who may keep or undo them. */
  #giveTouch(session: string, { top, owners }: Place, before: ReadonlyMap<string, Dirty>): void {
    for (const { path, text, marks } of uncommitted(this.#world, top).values()) {
      const was = before.get(path);
      if (was?.text === text) continue;
      const mine = marks.filter((mark) => this.#marks.owner(mark) === session);
      const all = [
        ...marks.map((mark) => this.#marks.owner(mark)),
        ...(was === undefined ? [] : owners.of(was)),
      ];
      const owner =
        all.find((one) => one !== session && one !== PERSON) ?? all.find((one) => one !== session);
      // A session that had already changed the file has its own claim on it.
      if (owner === undefined || mine.some((mark) => was?.marks.includes(mark) === true)) continue;
      this.#marks.give(mine, owner);
      for (const touch of mine) this.#touches.set(touch, session);
    }
  }

  #write(session: string, file: string, mark: string, place: Place): void {
    const { top, owners } = place;
    const before = uncommitted(this.#world, top);
    const isThere = existsSync(join(top, file));
    const text = isThere
      ? this.#world.read(file, top).replace(/^.*\n/, (line) => `${line}${mark}\n`)
      : `${mark}\n`;
    const answer = this.#world.write(session, file, text, top);
    this.#log.push(`${session[0]} writes ${mark} to ${file} in ${top}: ${answer.kind}`);
    if (answer.kind === 'deny') {
      this.#judge(session, `write ${file}`, answer.text, place, before);
      if (this.#random.below(3) === 0) this.#follow(session, `write ${file}`, answer.text, top, place);
    } else {
      const after = uncommitted(this.#world, top);
      this.#editedSince(place, before, after);
      owners.changed(session, before, after, true);
    }
  }

  /** Notes a refusal as needless if it protects nobody, unless git is in the middle of an operation. */
  #judge(
    session: string,
    command: string,
    text: string,
    place: Place,
    dirty: ReadonlyMap<string, Dirty>,
  ): void {
    const isOthers = (one: Dirty) => place.owners.of(one).some((owner) => owner !== session);
    if ([...dirty.values()].some(isOthers) || this.#world.operation(place.top) !== undefined) return;
    // These commands may lose others' commits or stashes, and these refusals are about the session's own work.
    if (/\b(?:reset|update-ref|amend|stash|handoff)\b/.test(command) || isMoved(text) || BY_HAND.test(text))
      return;
    this.needless.push(`${command}\n  -> refused: ${text}`);
  }

  /** Types a command and, if it is refused, follows the hints until the intended work is done. */
  #do(session: string, command: string, cwd: string, place: Place, again = false): void {
    const { top } = place;
    const before = uncommitted(this.#world, top);
    const meant = this.#meant(session, command, place);
    const outcome = this.#type(session, command, cwd, place, 'bash');
    if (!outcome.refused) return;
    this.#judge(session, command, outcome.text, place, before);
    const said = this.#follow(session, command, outcome.text, cwd, place);
    if (isWait(outcome.text)) return;
    // The hints have brought the session back to its branch, or told it where it is: now the command must work.
    if (isMoved(outcome.text)) {
      expect({ command, again, text: outcome.text }).toMatchObject({ again: false });
      this.#do(session, command, cwd, place, true);
      return;
    }
    if (!/\bcommit\b/.test(command) || /(?:handoff commit|commit -m only) .*-- /.test(command)) return;
    const now = marksOf(uncommitted(this.#world, top));
    // Conflicts are left to someone who knows what they mean.
    if (this.#world.operation(top) !== undefined) return;
    const byHand = BY_HAND.exec(said)?.[1] ?? '';
    const left = meant.filter(
      (mark) => now.includes(mark) && !byHand.includes(mark.replace(/ mark\w+$/, '')),
    );
    expect({ session, command, said, left }).toMatchObject({ left: [] });
  }

  /**
   * What the command means to commit: this session's marks in files that the command reaches (`-a` reaches no new files), and
   * that nobody else has changed. Changes that had no owner before the command have none afterwards.
   */
  #meant(session: string, command: string, { top, owners }: Place): string[] {
    const named = /\bgit (?:-C \S+ )?add -- '(.*?)'/.exec(command)?.[1];
    if (named !== undefined) return [];
    if (!/\bcommit\b/.test(command)) return [];
    const known = this.#world.git(['ls-files', '-z'], { cwd: top }).split('\0');
    const reaches = (path: string) => !/\bcommit -a\b/.test(command) || known.includes(path);
    return [...uncommitted(this.#world, top).values()]
      .filter((dirty) => reaches(dirty.path) && owners.of(dirty).every((owner) => owner === session))
      .filter(({ marks }) => marks.every((mark) => this.#marks.owner(mark) === session))
      .flatMap(({ marks }) => marks);
  }

  /** Types the hints; returns all texts along the way. */
  #follow(session: string, command: string, text: string, cwd: string, place: Place): string {
    let all = text;
    let said = text;
    let asked = command;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const [hint, ...others] = hintsIn(said);
      if (hint === undefined && isStatedWait(said)) return all;
      expect({ asked, said, hint }).not.toMatchObject({ hint: undefined });
      expect({ said, hint }).not.toMatchObject({ hint: asked });
      this.#namesNobodys(session, hint ?? '', cwd, place);
      const outcome = this.#type(session, hint ?? '', cwd, place, this.#random.pick(this.#world.shells));
      this.hints += 1;
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

  /**
   * Whether git itself stopped: a merge, a rebase or a stash at a conflict, or a merge at uncommitted work.
   */
  #isUpToGit(hint: string, { text }: Outcome, { top }: Place): boolean {
    if (/ --continue$/.test(hint)) return this.#world.operation(top) !== undefined;
    if (!/\bgit (?:-C \S+ )?(?:merge|stash apply)\b/.test(hint)) return false;
    if (/would be overwritten by merge/.test(text) || this.#world.operation(top) === 'merge') return true;
    return /\bstash apply\b/.test(hint) && this.#world.git(['ls-files', '--unmerged'], { cwd: top }) !== '';
  }

  /** Expects that a hint is no take (all sessions are at work), and that it names others' files only to unstage them. */
  #namesNobodys(session: string, hint: string, cwd: string, { top, owners }: Place): void {
    expect(hint).not.toMatch(/\bhandoff take\b/);
    if (/\bgit (?:-C \S+ )?reset -q /.test(hint)) return;
    const isTheirs = (mark: string) => ![session, PERSON].includes(this.#marks.owner(mark));
    const dirty = [...uncommitted(this.#world, top).values()];
    const theirs = dirty
      .filter(({ marks }) => marks.length > 0 && marks.every(isTheirs))
      .filter((one) => !owners.hasPart(session, one));
    const isFromTop = / -C |:\(top/.test(hint);
    const typed = ({ path }: Dirty) => (isFromTop ? path : relative(cwd, join(top, path)));
    // Other paths are removed first, since a hint that names `src/x` also contains `x`.
    const others = dirty.filter((one) => !theirs.includes(one)).map(typed);
    const rest = others.reduce((text, path) => text.replaceAll(path, ''), hint);
    const named = theirs.map(typed).filter((path) => rest.includes(path));
    expect({ hint, named }).toEqual({ hint, named: [] });
  }

  #typeOther(session: string, hint: string, cwd: string, place: Place): string {
    const outcome = this.#type(session, hint, cwd, place, this.#random.pick(this.#world.shells));
    this.hints += 1;
    const isDone = outcome.refused || this.#isUpToGit(hint, outcome, place);
    if (!isDone) expect({ hint, ...outcome }).toMatchObject({ status: 0 });
    return outcome.text;
  }

  /** Types a command as the client does. The command may neither lose nor commit anybody else's work. */
  #type(session: string, command: string, cwd: string, place: Place, shell: string): Outcome {
    const { top } = place;
    const before = uncommitted(this.#world, top);
    const head = headOf(this.#world, top);
    const undoes = /\brevert\b/.test(command) || this.#world.operation(top) === 'revert';
    const unchecked = this.#unchecked();
    // The folder is gone if somebody has removed all its files.
    mkdirSync(cwd, { recursive: true });
    const { before: answer, run } = this.#world.bash(session, command, { cwd, shell });
    const outcome =
      answer.kind === 'deny'
        ? { refused: true, status: 1, text: answer.text }
        : {
            refused:
              run?.status !== 0 &&
              /^error: .*\n(?:.*\n)*hint: (?:GIT_INDEX_FILE=\S+ )?git (?:-C|handoff|worktree|diff HEAD)/m.test(
                run?.stderr ?? '',
              ),
            status: run?.status ?? 0,
            text: run?.stderr ?? '',
          };
    const where = shell === 'bash' ? '' : ` (${shell})`;
    this.#log.push(`${session[0]} in ${cwd}${where}: ${command}\n  -> ${outcome.status} ${outcome.text}`);
    if (this.#unchecked() > unchecked) throw new Unchecked();
    expect(outcome.text).not.toContain('not a git repository');
    this.#compare(session, command, place, before, { head, undoes });
    return outcome;
  }

  /** Compares the tree with how it was `before`. `head`: the former HEAD; `undoes`: the command should undo a commit. */
  #compare(
    session: string,
    command: string,
    place: Place,
    before: Map<string, Dirty>,
    { head, undoes }: { readonly head: string; readonly undoes: boolean },
  ): void {
    const { top, owners } = place;
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
    const undone = this.#undone(place, head, there);
    if (undoes) for (const mark of undone) place.published.delete(mark);
    else expect({ command, undone }).toEqual({ command, undone: [] });
    if (moved && FINISHES.test(command)) this.#finished.set(there, session);
    this.#learn(session, place, before, after, { moved, named: isNamed(command) });
    this.#moved(place, before, after, head);
    if (!moved) this.#editedSince(place, before, after);
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
    owners.changed(session, before, after, isNamed(command));
  }

  /** Records the owners of marks that a command has brought into the tree. */
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
    const isBack = (mark: string) => place.owners.isBack(after.get(mark.slice(0, mark.lastIndexOf(' '))));
    const own = fresh.filter((mark) => !isBack(mark));
    if (!moved || isStopped) this.#marks.give(own, session);
    if (named) return;
    const isNobodys = (mark: string) =>
      place.owners.isNobodys(before.get(mark.slice(0, mark.lastIndexOf(' '))));
    this.#marks.give(own.filter(isNobodys), PERSON);
  }

  /** If HEAD has moved, updates the owners and the published marks. */
  #moved(
    { top, owners }: Place,
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    head: string,
  ): void {
    const there = headOf(this.#world, top);
    if (there === head) return;
    // An unfinished operation will put back the commits that it has removed.
    const isStopped = this.#world.operation(top) !== undefined;
    const makers = (from: string, to: string) => this.#world.makers(from, to, top, this.#finished);
    const undone = isStopped ? new Map<string, never>() : makers(there, head);
    owners.moved(before, after, undone, makers(head, there));
  }

  /** Whoever changes a file is assumed to know the lines that it has gained in HEAD. */
  #editedSince({ published }: Place, before: Map<string, Dirty>, after: Map<string, Dirty>): void {
    for (const { path, text } of after.values()) {
      if (before.get(path)?.text === text) continue;
      for (const mark of published) if (mark.startsWith(`${path} `)) published.delete(mark);
    }
  }

  /** Published marks that the commits between two positions of HEAD have undone. */
  #undone({ top, published }: Place, head: string, there: string): string[] {
    if (there === head || !this.#isBefore(head, there, top)) return [];
    return added(this.#world, top, there, head).filter((mark) => published.has(mark));
  }

  /** Whether one commit is an ancestor of another. */
  #isBefore(one: string, other: string, cwd: string): boolean {
    return this.#world.run('git', ['merge-base', '--is-ancestor', one, other], { cwd }).status === 0;
  }

  #unchecked(): number {
    return this.#world.guardLog().split('unchecked').length;
  }
}

/** The commands that a refusal says to type: a git hook or verb puts them after `hint:`, the guard at the end. */
function hintsIn(text: string): string[] {
  const lines = typedHints(text).filter((hint) => /^(?:git|GIT_INDEX_FILE=\S+ git) /.test(hint));
  if (lines.length > 0) return lines;
  const last = /: ((?:git|rm|xargs) .*)$/s.exec(text)?.[1];
  return last === undefined ? [] : [last];
}

/** A refusal without its hints. */
function reasonIn(text: string): string {
  return text.replace(/^hint: .*$/gms, '').replace(/: (?:git|rm|xargs) .*$/s, '');
}
