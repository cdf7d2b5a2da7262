import { basename, dirname, isBelow } from '../disk.ts';
import { UNKNOWN } from '../effects.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { READERS } from '../read-only.ts';
import { patternMatcher } from '../pattern.ts';

/** Whether an expression matches a path; `undefined` when the answer depends on the file. */
type Verdict = boolean | undefined;

const WITH_ARGUMENT = new Set(
  (
    'amin anewer atime cmin cnewer context ctime fstype gid group ilname inum iregex links lname maxdepth mindepth ' +
    'mmin mtime newer perm regex regextype samefile size uid used user xtype printf newermt newerat'
  ).split(' '),
);

const MAX_DEPTH = 64;
const TESTS_WITH_ARGUMENT = /^-(?:i?(?:name|path|wholename)|type|maxdepth|mindepth)$/;

interface Candidate {
  readonly path: string;
  /** The path as find prints it: the root as given, then the path below it. */
  readonly shown: string;
  readonly depth: number;
  readonly isFolder: boolean;
}

/** Evaluates one find expression for one path: its tests in order, and its actions if the tests match. */
class Expression {
  readonly #words: readonly string[];
  readonly #call: ProgramCall;
  #at = 0;
  #depth = 0;

  constructor(words: readonly string[], call: ProgramCall) {
    this.#words = words;
    this.#call = call;
  }

  run(candidate: Candidate): Verdict {
    this.#at = 0;
    return this.#or(candidate, true);
  }

  get hasAction(): boolean {
    return this.#words.some((word) => /^-(?:delete|print0?|printf|fprint|ls|fls|exec|ok|quit)/.test(word));
  }

  #or(candidate: Candidate, active: boolean): Verdict {
    let result = this.#and(candidate, active);
    while (/^(?:-o|-or|,)$/.test(this.#words[this.#at] ?? '')) {
      this.#at++;
      const right = this.#and(candidate, active && result !== true);
      result =
        result === true || right === true ? true : result === false && right === false ? false : undefined;
    }
    return result;
  }

  #and(candidate: Candidate, active: boolean): Verdict {
    let result: Verdict = true;
    while (this.#at < this.#words.length && !/^(?:-o|-or|,|\))$/.test(this.#words[this.#at] ?? '')) {
      if (/^-a(?:nd)?$/.test(this.#words[this.#at] ?? '')) this.#at++;
      const next = this.#primary(candidate, active && result !== false);
      result =
        result === false || next === false ? false : result === true && next === true ? true : undefined;
    }
    return result;
  }

  #primary(candidate: Candidate, active: boolean): Verdict {
    const word = this.#words[this.#at++] ?? '';
    const isNot = word === '!' || word === '-not';
    if (isNot || word === '(') {
      if (++this.#depth > MAX_DEPTH) this.#call.machine.exhausted = true;
      if (this.#call.machine.exhausted) return undefined;
      const inner = isNot ? this.#primary(candidate, active) : this.#or(candidate, active);
      this.#depth--;
      if (isNot) return inner === undefined ? undefined : !inner;
      this.#at++;
      return inner;
    }
    const isAction = /^-(?:delete|prune|print|fprint|fls|exec|ok)/.test(word);
    return isAction ? this.#action(word, candidate, active) : this.#test(word, candidate);
  }

  #test(word: string, candidate: Candidate): Verdict {
    const value = this.#words[this.#at] ?? '';
    const name = word.replace(/^-/, '');
    if (candidate.shown === UNKNOWN) {
      if (TESTS_WITH_ARGUMENT.test(word) || (WITH_ARGUMENT.has(name) && name !== 'printf')) this.#at++;
      return word === '-true' || word === '-false' ? word === '-true' : undefined;
    }
    if (/^-i?(?:name|path|wholename)$/.test(word)) {
      this.#at++;
      const text =
        word.endsWith('name') && !word.endsWith('wholename') ? basename(candidate.shown) : candidate.shown;
      const isFolded = word.startsWith('-i');
      return patternMatcher(isFolded ? value.toLowerCase() : value)(isFolded ? text.toLowerCase() : text);
    }
    if (word === '-type') {
      this.#at++;
      return value.includes(candidate.isFolder ? 'd' : 'f');
    }
    if (word === '-empty' || word === '-false') return false;
    if (word === '-maxdepth' || word === '-mindepth') {
      this.#at++;
      return word === '-maxdepth' ? candidate.depth <= Number(value) : candidate.depth >= Number(value);
    }
    if (WITH_ARGUMENT.has(name) && word !== '-printf') this.#at++;
    return undefined;
  }

  #action(word: string, candidate: Candidate, active: boolean): Verdict {
    const { machine, frame } = this.#call;
    if (word === '-delete') {
      // find(1) deletes a folder only if it is empty by then. Its files are judged one by one.
      if (active && candidate.shown !== UNKNOWN && !candidate.isFolder) {
        machine.remove(frame.scope, candidate.path, 'find -delete');
      }
      return true;
    }
    if (STARTS.test(word)) {
      const command = this.#command(candidate, word.endsWith('dir'));
      if (active) machine.run.argv(machine, command, { ...frame, scope: frame.scope.layer() });
      return undefined;
    }
    if (/^-f(?:print|ls)/.test(word)) {
      machine.write(frame.scope, this.#words[this.#at++] ?? '', `find ${word}`);
      if (word === '-fprintf') this.#at++;
      return true;
    }
    if (word === '-prune') return true;
    if (word === '-printf') this.#at++;
    if (/^-print(?:0|f)?$/.test(word) && active)
      frame.output.add(candidate.shown + (word === '-print0' ? '\0' : '\n'));
    return word.startsWith('-print') ? true : undefined;
  }

  /** Returns the words of `-exec … ;` with `{}` replaced; `-execdir` runs in the file's folder. */
  #command(candidate: Candidate, inFolder: boolean): string[] {
    const words = inFolder ? ['env', '-C', dirname(candidate.path)] : [];
    for (; this.#at < this.#words.length; this.#at++) {
      const word = this.#words[this.#at] ?? '';
      if (word === ';' || (word === '+' && words.at(-1)?.includes(candidate.shown) === true)) break;
      const shown =
        inFolder && candidate.shown !== UNKNOWN ? `./${basename(candidate.shown)}` : candidate.shown;
      words.push(word.replaceAll('{}', () => shown));
    }
    this.#at++;
    return words;
  }
}

/** Returns the guarded paths under a root, and the folders that lead to them, in find's order. */
function candidatesBelow(call: ProgramCall, root: string): Candidate[] {
  const { machine, frame } = call;
  const isFollowed = root.endsWith('/') || call.args.some((word) => /^-[HL]$|^-follow$/.test(word));
  const path = machine.path(frame.scope, root, isFollowed);
  if (path === undefined) return [];
  const found = new Map<string, Candidate>();
  const add = (each: string, isFolder: boolean) => {
    const rest = each.slice(path === '/' ? 0 : path.length);
    const depth = rest.split('/').length - 1;
    found.set(each, { path: each, shown: root.replace(/\/$/, '') + rest, depth, isFolder });
  };
  for (const watched of machine.disk.world.watched(path)) {
    for (let up = dirname(watched); isBelow(up, path) && !found.has(up) && up !== '/'; up = dirname(up))
      add(up, true);
    add(watched, false);
  }
  if (!found.has(path)) add(path, machine.disk.isDirectory(path));
  return [...found.values()];
}

/** The actions that start a program. */
const STARTS = /^-(?:exec|execdir|ok|okdir)$/;

function find(call: ProgramCall): Status {
  const { machine, frame } = call;
  const start = call.args.findIndex((word) => /^[-(!,]/.test(word) && !/^-[HLPDO]/.test(word));
  const roots = call.args.slice(0, start < 0 ? undefined : start).filter((word) => !word.startsWith('-'));
  const words = start < 0 ? [] : call.args.slice(start);
  const expression = new Expression(words, call);
  const changes = words.some(
    (word, at) => word === '-delete' || (STARTS.test(word) && !READERS.has(words[at + 1] ?? '')),
  );
  for (const root of roots.length > 0 ? roots : ['.']) {
    if (changes) machine.changesBelow(machine.path(frame.scope, root));
    for (const candidate of candidatesBelow(call, root)) {
      const verdict = expression.run(candidate);
      if (verdict !== false && !expression.hasAction) frame.output.add(`${candidate.shown}\n`);
    }
    // One unknown path stands for everything else that find may visit.
    expression.run({ path: UNKNOWN, shown: UNKNOWN, depth: 1, isFolder: false });
    if (!expression.hasAction && !machine.disk.exists(machine.path(frame.scope, root) ?? '/'))
      frame.output.add('');
    else frame.output.add(`${UNKNOWN}\n`);
  }
  return undefined;
}

export const FIND_PROGRAMS: ReadonlyMap<string, Program> = new Map([['find', find]]);
