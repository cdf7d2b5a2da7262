import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Random } from '../faults/seed.ts';
import { A, B, C, SharingWorld, TEN } from '../sharing-world.ts';
import { FILES, type Kind, commandOf, elsewhere, pickKind } from './acts.ts';
import { Marks, added, uncommitted } from './marks.ts';
import { hintsIn, reasonIn, takenPaths } from './typed.ts';

/** Shells in which hints are typed: `sh` is the machine's own. */
const SHELLS = ['sh', 'bash'];
/** A hint, and what it leads to, until the goal is reached. */
const MAX_STEPS = 3;
const PERSON = 'a person';

/** A branch with a change of a line that sessions change, too. */
const FEATURE = `GIT_INDEX_FILE=.git/feature && export GIT_INDEX_FILE && git read-tree HEAD &&
blob=$(git show HEAD:src/a.ts | sed 's/line 3/feature/' | git hash-object -w --stdin) &&
git update-index --cacheinfo "100644,$blob,src/a.ts" &&
git update-ref refs/heads/feature "$(git commit-tree -p HEAD -m feature "$(git write-tree)")" && rm .git/feature`;

/** A machine that is too busy let a commit pass unchecked: such a history shows nothing. */
class Unchecked extends Error {}

/** What came of a command: said to the session, and whether it was refused. */
interface Outcome {
  readonly refused: boolean;
  readonly status: number;
  readonly text: string;
}

/** One history of sessions in one repository, with every hint of every refusal typed as it stands. */
export class History {
  readonly #world: SharingWorld;
  readonly #random: Random;
  readonly #marks = new Marks();
  readonly #sessions: readonly string[];
  readonly #tops: readonly string[];
  /** What was typed, for the failure's text. */
  readonly #log: string[] = [];
  typed = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#sessions = random.below(3) === 0 ? [A, B, C] : [A, B];
    this.#world = new SharingWorld({
      ready: this.#sessions,
      files: { 'lib/x.ts': TEN, 'package-lock.json': '{\n}\n', '.gitignore': 'dist/\n' },
    });
    const { path, home } = this.#world;
    this.#world.run('sh', ['-c', FEATURE]);
    const side = this.#world.worktree('side');
    for (const session of this.#sessions) this.#world.begin(session, side);
    this.#tops = [path, side];
    writeFileSync(
      join(home, 'format'),
      'for f in src/*.ts lib/*.ts shared.md; do sed -i "s/\\$/ /" "$f"; done\n',
    );
    writeFileSync(join(home, 'install'), 'echo "$1" >>package-lock.json\n');
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
    const session = this.#random.pick(this.#sessions);
    const top = this.#random.below(6) === 0 ? this.#tops[1]! : this.#tops[0]!;
    const file = this.#random.pick(FILES);
    if (kind === 'person') {
      this.#log.push(`a person writes ${file}`);
      mkdirSync(dirname(join(top, file)), { recursive: true });
      writeFileSync(join(top, file), this.#text(PERSON));
    } else if (kind === 'write') {
      this.#write(session, file, top);
    } else {
      const command = commandOf(kind, this.#random, this.#marks.make(session));
      const typed = elsewhere(command, this.#random, top);
      this.#do(session, typed.command, join(top, typed.folder), top);
      if (kind === 'lockfile') this.#giveTouch(session, top);
    }
  }

  /** What a command changes by the way in another's file is a touch: the file's owner does with it as it likes. */
  #giveTouch(session: string, top: string): void {
    for (const marks of uncommitted(this.#world, top).values()) {
      const mine = marks.filter((mark) => this.#marks.owner(mark) === session);
      const owners = marks.map((mark) => this.#marks.owner(mark) ?? PERSON);
      const owner = owners.find((one) => one !== session && one !== PERSON);
      if (mine.length === 1 && owner !== undefined) this.#marks.give(mine, owner);
    }
  }

  #text(writer: string): string {
    return TEN.replace(`line ${1 + this.#random.below(9)}\n`, `${this.#marks.make(writer)}\n`);
  }

  #write(session: string, file: string, top: string): void {
    const mark = this.#marks.make(session);
    let text = `${mark}\n`;
    try {
      text = this.#world.read(file, top).replace(/^.*\n/, (line) => `${line}${mark}\n`);
    } catch {
      // A new file.
    }
    const answer = this.#world.write(session, file, text, top);
    this.#log.push(`${session[0]} writes ${file} in ${top}: ${answer.kind}`);
    if (answer.kind !== 'deny' || this.#random.below(3) > 0) return;
    this.#follow(session, `write ${file}`, answer.text, top, top);
  }

  /** Does it, and follows the hints when it is refused until what was meant is done. */
  #do(session: string, command: string, cwd: string, top: string): void {
    const meant = this.#meant(session, command, top);
    const outcome = this.#type(session, command, cwd, top, 'bash');
    if (!outcome.refused) return;
    this.#follow(session, command, outcome.text, cwd, top);
    // On the right branch again: now it can be done.
    if (/^error: expected .*, HEAD is /m.test(outcome.text)) {
      this.#do(session, command, cwd, top);
      return;
    }
    if (!/\bcommit\b/.test(command) || /handoff commit .* -- /.test(command)) return;
    const left = [...uncommitted(this.#world, top).values()].flat();
    expect({ session, command, left: meant.filter((mark) => left.includes(mark)) }).toMatchObject({
      left: [],
    });
  }

  /** This session's marks in files that the command reaches and nobody else has changed; `-a` leaves new files alone. */
  #meant(session: string, command: string, top: string): string[] {
    const owners = (marks: readonly string[]) => marks.map((mark) => this.#marks.owner(mark));
    const known = this.#world.git(['ls-files', '-z'], { cwd: top }).split('\0');
    const reaches = (path: string) => !/\bcommit -a\b/.test(command) || known.includes(path);
    return [...uncommitted(this.#world, top)]
      .filter(([path, marks]) => reaches(path) && owners(marks).every((owner) => owner === session))
      .flatMap(([, marks]) => marks);
  }

  #follow(session: string, command: string, text: string, cwd: string, top: string): void {
    let said = text;
    let asked = command;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const [hint, ...others] = hintsIn(said);
      expect({ asked, said, hint }).not.toMatchObject({ hint: undefined });
      expect({ said, hint }).not.toMatchObject({ hint: asked });
      this.#namesNobodys(session, hint ?? '', top);
      const outcome = this.#type(session, hint ?? '', cwd, top, this.#random.pick(SHELLS));
      this.typed += 1;
      if (outcome.refused) {
        expect(reasonIn(outcome.text), `${asked}\n${said}\n${hint}`).not.toBe(reasonIn(said));
        said = outcome.text;
        asked = hint ?? '';
        continue;
      }
      expect({ command, said, hint, status: outcome.status, text: outcome.text }).toMatchObject({
        status: 0,
      });
      for (const other of others) this.#typeOther(session, other, cwd, top);
      return;
    }
    throw new Error(`no way out of: ${command}\n${said}`);
  }

  /** Only a take names what is another's alone, and what takes it out of the index. */
  #namesNobodys(session: string, hint: string, top: string): void {
    if (/\bhandoff take\b|\bgit (?:-C \S+ )?reset -q /.test(hint)) return;
    const theirs = [...uncommitted(this.#world, top)].filter(
      ([, marks]) =>
        marks.length > 0 && marks.every((mark) => ![session, PERSON].includes(this.#marks.owner(mark)!)),
    );
    expect({ hint, theirs: theirs.filter(([path]) => hint.includes(path)) }).toEqual({ hint, theirs: [] });
  }

  #typeOther(session: string, hint: string, cwd: string, top: string): void {
    const outcome = this.#type(session, hint, cwd, top, this.#random.pick(SHELLS));
    this.typed += 1;
    if (!outcome.refused) expect({ hint, ...outcome }).toMatchObject({ status: 0 });
  }

  /** Types a command as the client does; nobody else's work may be lost by it, or be in its commit. */
  #type(session: string, command: string, cwd: string, top: string, shell: string): Outcome {
    const before = uncommitted(this.#world, top);
    const head = this.#world.git(['rev-parse', 'HEAD'], { cwd: top });
    const unchecked = this.#unchecked();
    if (/\bhandoff take\b/.test(command)) {
      for (const path of takenPaths(command, cwd, top)) this.#marks.give(before.get(path) ?? [], session);
    }
    const { before: answer, run } = this.#world.bash(session, command, { cwd, shell });
    const outcome =
      answer.kind === 'deny'
        ? { refused: true, status: 1, text: answer.text }
        : {
            refused: run?.status !== 0 && /^error: .*\n(?:.*\n)*hint: /m.test(run?.stderr ?? ''),
            status: run?.status ?? 0,
            text: run?.stderr ?? '',
          };
    this.#log.push(`${session[0]} in ${cwd}: ${command}\n  -> ${outcome.status} ${outcome.text}`);
    if (this.#unchecked() > unchecked) throw new Unchecked();
    expect(outcome.text).not.toContain('not a git repository');
    this.#compare(session, command, top, before, head);
    return outcome;
  }

  #compare(session: string, command: string, top: string, before: Map<string, string[]>, head: string): void {
    const isOthers = (mark: string) => ![session, PERSON].includes(this.#marks.owner(mark) ?? PERSON);
    const theirs = [...before.values()].flat().filter(isOthers);
    const now = new Set([...uncommitted(this.#world, top).values()].flat());
    expect({ command, lost: theirs.filter((mark) => !now.has(mark)) }).toEqual({ command, lost: [] });
    const there = this.#world.git(['rev-parse', 'HEAD'], { cwd: top });
    const taken = there === head ? [] : added(this.#world, top, head);
    expect({ command, taken: taken.filter((mark) => theirs.includes(mark)) }).toEqual({ command, taken: [] });
  }

  #unchecked(): number {
    return this.#world.guardLog().split('unchecked').length;
  }
}
