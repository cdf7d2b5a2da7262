import { type Dirty, type Marks, PERSON, UNCLEAR } from './marks.ts';

/** What becomes of a command: it is refused, or not; `undefined`: the model does not say. */
export type Verdict = 'refused' | 'passes' | undefined;

/** What a verdict is told by. */
export interface Facts {
  readonly session: string;
  /** The folder in which it is typed, from the top: empty, or ending in a slash. */
  readonly folder: string;
  readonly dirty: ReadonlyMap<string, Dirty>;
  /** Whether there is such a file, from the top. */
  readonly exists: (path: string) => boolean;
  /** Who made the newest entry of the stash; `undefined`: there is none. */
  readonly stashed: string | undefined;
  /** The sessions of the commits that would be lost when HEAD goes back to a revision; without one those of HEAD. */
  readonly left: (to?: string) => readonly string[];
}

/** Whose the changed paths of one working tree are, and what may be done there: by rules of its own, not the program's. */
export class Model {
  readonly #marks: Marks;
  /** Who changed a path first, since it was as HEAD has it. */
  readonly #first = new Map<string, string>();
  /** Paths that a session has written by name: nobody objected, so nobody else has a claim there. */
  readonly #named = new Map<string, string>();

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** Sessions whose uncommitted work stands there. A touch of another's path makes nobody an owner. */
  owners({ path, marks }: Dirty): string[] {
    const named = this.#named.get(path);
    const writers = marks.map((mark) => this.#marks.owner(mark)).filter((one) => one !== PERSON);
    if (named !== undefined) return [...new Set([...writers.filter((one) => one !== UNCLEAR), named])];
    const first = this.#first.get(path);
    const isAsked = first !== undefined && (writers.length === 0 || first === UNCLEAR);
    return [...new Set(isAsked ? [...writers, first] : writers)];
  }

  /** A session's command, or a person, has left the tree like this; `named`: a file tool, or what names what it writes. */
  changed(
    writer: string,
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    named = false,
  ): void {
    for (const known of [this.#first, this.#named])
      for (const path of known.keys()) if (!after.has(path)) known.delete(path);
    for (const [path, dirty] of after) {
      const was = before.get(path);
      if (was?.text === dirty.text && was !== undefined) continue;
      if (named) this.#named.set(path, writer);
      const known = this.#first.get(path);
      if (known !== undefined && known !== PERSON) continue;
      // What was changed and nobody's before a command ran may stay so.
      this.#first.set(path, was === undefined || known === writer ? writer : UNCLEAR);
    }
  }

  /** What the model cannot follow: whose these paths are is not told until they are as HEAD has them. */
  forget(paths: Iterable<string>): void {
    for (const path of paths) {
      this.#first.set(path, UNCLEAR);
      this.#named.delete(path);
    }
  }

  /** It is the session's that took it. */
  took(paths: Iterable<string>, session: string): void {
    for (const path of paths) this.#named.set(path, session);
  }

  /** A path that differs from HEAD again is this session's, whose commits had it. */
  give(path: string, session: string): void {
    this.#first.set(path, session);
  }

  /** A session writes these, destroys them, or puts them into its commit. */
  verdict(session: string, reached: readonly Dirty[]): Verdict {
    const owners = reached.flatMap((dirty) => this.owners(dirty));
    if (owners.some((owner) => ![session, PERSON, UNCLEAR].includes(owner))) return 'refused';
    return owners.includes(UNCLEAR) ? undefined : 'passes';
  }

  /** What becomes of a command. */
  foresee(command: string, facts: Facts): Verdict {
    const { session, dirty, stashed, left } = facts;
    const reached = reachedBy(command, facts);
    const undone = /^git (?:fetch.* git )?(?:reset -q (?:--soft )?|update-ref HEAD )(\S+)$/.exec(
      command,
    )?.[1];
    if (undone !== undefined) return mayLose(session, left(undone));
    if (command.startsWith('git commit -a --amend')) {
      const all = [mayLose(session, left()), this.verdict(session, [...dirty.values()].filter(isTracked))];
      return all.includes('refused') ? 'refused' : all.includes(undefined) ? undefined : 'passes';
    }
    if (/^git stash (?:pop|drop)$/.test(command)) {
      return stashed === UNCLEAR ? undefined : mayLose(session, stashed === undefined ? [] : [stashed]);
    }
    if (/^git handoff (?:commit|stage --mine)/.test(command)) return this.#ownPart(command, facts);
    if (reached !== undefined) return this.verdict(session, reached);
    if (ADDS_ALL_IF_STOPPED.test(command)) {
      // git does not begin a rebase here, and so there is nothing to go on with.
      if (command.startsWith('git rebase') && [...dirty.values()].some(isTracked)) return 'passes';
      return this.verdict(session, [...dirty.values()]) === 'passes' ? 'passes' : undefined;
    }
    return HARMLESS.some((one) => one.test(command)) ? 'passes' : undefined;
  }

  /** All that is the session's own goes in; where nothing is, there is nothing to do, which is said like a refusal. */
  #ownPart(command: string, { session, folder, dirty }: Facts): Verdict {
    const named = / -- '(.*)'$/.exec(command)?.[1];
    const paths = [...dirty.values()].filter(
      ({ path }) => named === undefined || path === `${folder}${named}`,
    );
    const owners = paths.map((one) => this.owners(one));
    if (named !== undefined && paths.length === 0) return 'refused';
    if (owners.flat().includes(UNCLEAR)) return undefined;
    if (named !== undefined && owners.flat().some((owner) => owner !== session))
      return owners.flat().includes(session) ? undefined : 'refused';
    if (owners.some((all) => all.includes(session) && all.length > 1)) return undefined;
    return owners.some((all) => all.includes(session))
      ? 'passes'
      : named === undefined
        ? 'refused'
        : undefined;
  }
}

/** What only adds, or what git itself keeps from overwriting anything. */
const HARMLESS = [
  /^sh "/,
  /^git add -A$/,
  /^git push /,
  /^git clean -fdX$/,
  /^git merge -q feature$/,
  /^git merge -q --ff-only /,
  /^git merge -q feature \|\| git merge --abort$/,
  /^git cherry-pick (?:-n )?feature$/,
  /^git revert /,
  /^git rebase -q feature$/,
  /^git pull -q --rebase /,
];

/** Where the operation does not stop, there is nothing to commit: only `git add` has run. */
const ADDS_ALL_IF_STOPPED = /^git (?:cherry-pick|rebase -q) feature; git add -A && /;

const isTracked = ({ xy }: Dirty) => xy !== '??';

/** Commits, or an entry of the stash, of a session that is at work are for nobody else to lose. */
function mayLose(session: string, owners: readonly string[]): Verdict {
  return owners.some((owner) => owner !== session && owner !== PERSON) ? 'refused' : 'passes';
}

/** What stands in the index as on the disk would be left alone; the guard may refuse it all the same. */
const unlessStaged = (paths: Dirty[]): Dirty[] | undefined =>
  paths.some(({ xy }) => xy[1] === ' ') ? undefined : paths;

/** The changed paths that a command destroys, carries away or commits; `undefined`: not told. */
function reachedBy(command: string, { folder, dirty, exists }: Facts): Dirty[] | undefined {
  const all = [...dirty.values()];
  const below = all.filter(({ path }) => path.startsWith(folder));
  const named = /^git (?:restore|commit -m only --) '(.*)'$/.exec(command)?.[1];
  if (named !== undefined) {
    const [one, ...none] = all.filter(({ path }) => path === `${folder}${named}`);
    // git commits by name only what it knows.
    if (one === undefined || (one.xy === '??' && !command.startsWith('git restore'))) return none;
    return unlessStaged([one]);
  }
  const staged = /^git add -- '(.*?)' && git commit /.exec(command)?.[1];
  if (staged !== undefined) {
    const path = `${folder}${staged}`;
    // What git does not know it does not add, and then it commits nothing.
    if (!dirty.has(path) && !exists(path)) return [];
    return all.filter((one) => one.path === path || /^[^ ?]/.test(one.xy));
  }
  switch (command) {
    case 'git reset --hard':
    case 'git stash':
    case 'git rebase -q --autostash feature':
    case 'git rebase -q feature || git rebase --abort':
      return all.filter(isTracked);
    case 'git stash -u':
      return all;
    case 'git checkout -- .':
    case 'git restore .':
      return unlessStaged(below.filter(isTracked));
    case 'git clean -fd':
      return below.filter((one) => !isTracked(one));
    case 'rm -rf lib':
      return all.filter(({ path }) => path.startsWith(`${folder}lib/`));
    default:
  }
  if (/^git (?:switch -c|checkout -b) /.test(command)) return all;
  if (command.startsWith('sed -i '))
    return all.filter(({ path }) => /^src\/[ab]\.ts$/.test(path) && folder === '');
  // Whether the merge stops, goes well or is not begun: all of it is committed then.
  const committed = command.replace(/^git merge -q [^;]*; /, '');
  if (/^git add -A(?: &&|;) git commit /.test(committed)) return all;
  if (/^git commit -a (?!--amend)/.test(committed)) return all.filter(isTracked);
  return undefined;
}
