import { type Dirty, type Marks, PERSON } from './marks.ts';

/** What becomes of a command: it is refused, or not. */
export type Verdict = 'refused' | 'passes';

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
  /** Whether another branch is checked out than at the session's last call. */
  readonly isElsewhere: boolean;
  /** What git has stopped in. */
  readonly operation: string | undefined;
  /** Whether another session has begun it. */
  readonly isOthers: boolean;
  /** Whether HEAD has gained a line there, from another clone, that the path's change would take back. */
  readonly isStale: (dirty: Dirty) => boolean;
  /** Whether it is stale, and changed in the very line, so that nobody can tell the two apart. */
  readonly clashes: (dirty: Dirty) => boolean;
  /** Whether git would stop in what this command begins: at a conflict, or since there is nothing to commit. */
  readonly stops: (command: string) => 'conflict' | 'empty' | undefined;
}

/** Whose the changed paths of one working tree are, and what may be done there: by rules of its own, not the program's. */
export class Model {
  readonly #marks: Marks;
  /** Whose the part of a path's change is that no mark shows: a formatter's, what a commit left or gave back. */
  readonly #rest = new Map<string, ReadonlySet<string>>();
  /** Paths that a session has written by name: nobody objected, so nobody else has a claim there. */
  readonly #named = new Map<string, string>();
  /** What a session last left there, and whose it was then: it is theirs when it comes back. */
  readonly #last = new Map<
    string,
    { readonly text: string | undefined; readonly owners: readonly string[] }
  >();

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** Sessions whose uncommitted work stands there. A touch of another's path makes nobody an owner. */
  owners({ path, marks }: Dirty): string[] {
    const named = this.#named.get(path);
    const writers = marks.map((mark) => this.#marks.owner(mark)).filter((one) => one !== PERSON);
    if (named !== undefined) return [...new Set([...writers, named])];
    return [...(writers.length > 0 ? new Set(writers) : (this.#rest.get(path) ?? []))];
  }

  /** What differs from HEAD and is nobody's stays so until somebody names it. */
  isNobodys(dirty: Dirty | undefined): boolean {
    return dirty !== undefined && this.owners(dirty).length === 0;
  }

  /** Whether something there is the session's, be it what no mark shows. */
  hasPart(session: string, dirty: Dirty): boolean {
    return this.owners(dirty).includes(session) || this.#rest.get(dirty.path)?.has(session) === true;
  }

  /** A change of a session that was put aside is there again, as it was. */
  isBack(dirty: Dirty | undefined): boolean {
    const then = dirty === undefined ? undefined : this.#last.get(dirty.path);
    return then !== undefined && then.owners.length > 0 && then.text === dirty?.text;
  }

  /** A session's command, or a person, has left the tree like this; `named`: a file tool, or what names what it writes. */
  changed(
    writer: string,
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    named = false,
  ): void {
    for (const known of [this.#rest, this.#named])
      for (const path of known.keys()) if (!after.has(path)) known.delete(path);
    for (const [path, dirty] of after) {
      const was = before.get(path);
      if (writer === PERSON || (was !== undefined && was.text === dirty.text)) continue;
      if (!named && this.isNobodys(was)) continue;
      if (named) this.#named.set(path, writer);
      const owners = was === undefined && this.isBack(dirty) ? this.#last.get(path)?.owners : [writer];
      if (!this.#rest.has(path)) this.#rest.set(path, new Set(owners));
      this.#last.set(path, { text: dirty.text, owners: this.owners(dirty) });
    }
  }

  /**
   * HEAD has moved. What it was moved back over is uncommitted again, of the sessions whose commits had it; what only
   * another's commit has changed is nobody's; and of what went into a session's commit the others' part is left.
   */
  moved(
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    undone: ReadonlyMap<string, ReadonlySet<string>>,
    gained: ReadonlyMap<string, ReadonlySet<string>>,
  ): void {
    for (const path of before.keys()) if (!after.has(path)) this.#last.delete(path);
    for (const [path, dirty] of after) {
      // HEAD has not got what was removed: nothing of that is left.
      const isOver = !before.has(path) || dirty.xy === 'AD';
      const known = !isOver ? [...(this.#rest.get(path) ?? []), this.#named.get(path) ?? []].flat() : [];
      const done = gained.get(path);
      if (done?.has(this.#named.get(path) ?? '') === true || isOver) this.#named.delete(path);
      const left = known.filter((one) => done?.has(one) !== true);
      this.#rest.set(path, new Set([...left, ...(undone.get(path) ?? [])]));
      // What went into a commit does not come back with the rest.
      const last = this.#last.get(path);
      if (last !== undefined && last.text === dirty.text)
        this.#last.set(path, { text: dirty.text, owners: this.owners(dirty) });
    }
  }

  /** It is the session's that took it. */
  took(paths: Iterable<string>, session: string): void {
    for (const path of paths) this.#named.set(path, session);
  }

  /** A session writes these, destroys them, or puts them into its commit. */
  verdict(session: string, reached: readonly Dirty[]): Verdict {
    const owners = reached.flatMap((dirty) => this.owners(dirty));
    return owners.some((owner) => owner !== session) ? 'refused' : 'passes';
  }

  /** What becomes of a command. */
  foresee(command: string, facts: Facts): Verdict {
    const { session, dirty, stashed, left } = facts;
    const undone = /^git (?:fetch.* git )?(?:reset -q (?:--soft )?|update-ref HEAD )(\S+)$/.exec(
      command,
    )?.[1];
    if (undone !== undefined) return mayLose(session, left(undone));
    if (/^git stash (?:pop|drop)$/.test(command))
      return mayLose(session, stashed === undefined ? [] : [stashed]);
    if (/^git handoff (?:commit|stage --mine)/.test(command)) return this.#ownPart(command, facts);
    const reached = reachedBy(command, facts);
    const isAmend = command.startsWith('git commit -a --amend');
    if (isAmend && mayLose(session, left()) === 'refused') return 'refused';
    if (reached !== undefined) {
      const isOld = facts.isElsewhere || facts.isOthers || reached.some(facts.isStale);
      return isOld && runsHook(command, facts) ? 'refused' : this.verdict(session, reached);
    }
    const [, operation] = GOES_ON.exec(command) ?? [];
    if (operation !== undefined) {
      const stop = facts.stops(operation);
      // Where something is in the way git does not begin, and there is nothing to go on with. Every commit of `feature`
      // changes src/a.ts, unless HEAD has all of it.
      const isInTheWay = ({ xy, path }: Dirty) =>
        /^[^ ?]/.test(xy) ||
        (path === 'src/a.ts' && stop === 'conflict') ||
        (isTracked({ xy }) && operation.includes('rebase'));
      const begins = ![...dirty.values()].some(isInTheWay);
      return begins && stop !== undefined ? this.verdict(session, [...dirty.values()]) : 'passes';
    }
    if (HARMLESS.some((one) => one.test(command))) return 'passes';
    throw new Error(`the model does not know this command: ${command}`);
  }

  /**
   * All that is the session's own goes in, and what is nobody's when a commit names it; where nothing is, there is nothing
   * to do, which is said like a refusal. The session is told first where HEAD is.
   */
  #ownPart(
    command: string,
    { session, folder, dirty, operation, isOthers, isElsewhere, isStale, clashes }: Facts,
  ): Verdict {
    const commits = !command.includes(' stage ');
    if (commits && (isOthers || isElsewhere)) return 'refused';
    const named = / -- '(.*)'$/.exec(command)?.[1];
    // What git has stopped in is finished as a whole; a rebase goes on by itself.
    if (commits && operation !== undefined)
      return operation === 'rebase' || named !== undefined || [...dirty.values()].some(isUnmerged)
        ? 'refused'
        : 'passes';
    // What is only in the index is no change of a file.
    const reached = [...dirty.values()].filter(
      ({ path, xy }) => xy !== 'AD' && (named === undefined || path === `${folder}${named}`),
    );
    const isFree = (one: Dirty) => commits && named !== undefined && this.isNobodys(one) && !isStale(one);
    const own = reached.filter((one) => this.owners(one).includes(session) || isFree(one));
    return own.length > 0 && !own.some(clashes) ? 'passes' : 'refused';
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
  /^git cherry-pick (?:-n )?feature$/,
  /^git revert /,
  /^git rebase -q feature$/,
  /^git pull -q --rebase /,
];

/** Where the operation does not stop, there is nothing to commit: only `git add` has run. */
const GOES_ON = /^(git (?:cherry-pick|rebase -q) feature); git add -A && /;

/** Whether git comes as far as the commit: with a path that it does not know it does not. */
function runsHook(command: string, { folder, dirty, exists }: Facts): boolean {
  const path = /^git (?:add|commit -m only) -- '(.*?)'/.exec(command)?.[1];
  if (path !== undefined && !dirty.has(`${folder}${path}`) && !exists(`${folder}${path}`)) return false;
  if (isLeftUnmerged(command, { folder, dirty })) return false;
  return /\bgit commit\b|--continue$/.test(command);
}

/** git commits nothing while another path than the one that is added is in conflict. */
function isLeftUnmerged(command: string, { folder, dirty }: Pick<Facts, 'folder' | 'dirty'>): boolean {
  const path = /^git add -- '(.*?)' && /.exec(command)?.[1];
  return (
    path !== undefined &&
    [...dirty.values()].some((one) => isUnmerged(one) && one.path !== `${folder}${path}`)
  );
}

const isUnmerged = ({ xy }: Dirty) => xy.includes('U') || xy === 'AA' || xy === 'DD';

const isTracked = ({ xy }: Pick<Dirty, 'xy'>) => xy !== '??';

/** Commits, or an entry of the stash, of a session that is at work are for nobody else to lose. */
function mayLose(session: string, owners: readonly string[]): Verdict {
  return owners.some((owner) => owner !== session && owner !== PERSON) ? 'refused' : 'passes';
}

/** What ends an operation that git has stopped in, or goes on with it. */
function reachedByEnding(command: string, all: readonly Dirty[]): Dirty[] | undefined {
  // What is staged goes with the operation's own; what is not stays, but of a rebase. Said in one line with what begins
  // the operation, it is judged before that.
  const [, operation] = /^(?:.* \|\| )?git (\S+) --(?:abort|skip)$/.exec(command) ?? [];
  if (operation !== undefined)
    return all.filter(({ xy }) => (operation === 'rebase' ? isTracked({ xy }) : /^[^ ?]/.test(xy)));
  return /^git add -A && (?:GIT_EDITOR=true git \S+ --continue|git commit --no-edit)$/.test(command)
    ? [...all]
    : undefined;
}

/** The changed paths that a command destroys, carries away or commits; `undefined`: it does none of that. */
function reachedBy(command: string, { folder, dirty, exists }: Facts): Dirty[] | undefined {
  const all = [...dirty.values()];
  const below = all.filter(({ path }) => path.startsWith(folder));
  const named = /^git (?:restore|commit -m only --) '(.*)'$/.exec(command)?.[1];
  if (named !== undefined) {
    const [one, ...none] = all.filter(({ path }) => path === `${folder}${named}`);
    // git commits by name only what it knows.
    if (one === undefined || (one.xy === '??' && !command.startsWith('git restore'))) return none;
    return [one];
  }
  const staged = /^git add -- '(.*?)' && git commit /.exec(command)?.[1];
  if (staged !== undefined) {
    const path = `${folder}${staged}`;
    // What git does not know it does not add, and then it commits nothing.
    if ((!dirty.has(path) && !exists(path)) || isLeftUnmerged(command, { folder, dirty })) return [];
    return all.filter((one) => one.path === path || /^[^ ?]/.test(one.xy));
  }
  switch (command) {
    case 'git reset --hard':
    case 'git stash':
    case 'git rebase -q --autostash feature':
      return all.filter(isTracked);
    case 'git stash -u':
      return all;
    case 'git checkout -- .':
    case 'git restore .':
      return below.filter(isTracked);
    case 'git clean -fd':
      return below.filter((one) => !isTracked(one));
    case 'rm -rf lib':
      return all.filter(({ path }) => path.startsWith(`${folder}lib/`));
    default:
  }
  const ended = reachedByEnding(command, all);
  if (ended !== undefined) return ended;
  if (/^git (?:switch -c|checkout -b) /.test(command)) return all;
  if (command.startsWith('sed -i '))
    return all.filter(({ path }) => /^src\/[ab]\.ts$/.test(path) && folder === '');
  // Whether the merge stops, goes well or is not begun: all of it is committed then.
  const committed = command.replace(/^git merge -q [^;]*; /, '');
  if (/^git add -A(?: &&|;) git commit /.test(committed)) return all;
  if (/^git commit -a /.test(committed)) return all.filter(isTracked);
  return undefined;
}
