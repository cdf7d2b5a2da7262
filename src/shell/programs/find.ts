import { basename, dirname, isBelow } from '../disk.ts';
import { UNKNOWN } from '../effects.ts';
import type { Program, ProgramCall, Status } from '../machine.ts';
import { READERS } from '../read-only.ts';
import { patternMatcher } from '../pattern.ts';

interface Candidate {
  readonly path: string;
  /** The path as find prints it: the root as given, then the path below it. */
  readonly shown: string;
  readonly depth: number;
  readonly isFolder: boolean;
}

/**
 * Whether a part of a find expression matches a file; `undefined` when that depends on what only the disk knows. Actions
 * are carried out when they are reached.
 */
type Expression = (file: Candidate) => boolean | undefined;

/** Combines expressions: evaluates them in order until one decides. */
const combined =
  (parts: readonly Expression[], deciding: boolean): Expression =>
  (file) => {
    let result: boolean | undefined = !deciding;
    for (const part of parts) {
      const matches = part(file);
      if (matches === deciding) return deciding;
      if (matches === undefined) result = undefined;
    }
    return result;
  };

const WITH_ARGUMENT = new Set(
  (
    'amin anewer atime cmin cnewer context ctime fstype gid group ilname inum iregex links lname maxdepth mindepth mmin mtime ' +
    'newer perm printf regex regextype samefile size type uid used user xtype newermt newerat'
  ).split(' '),
);
/** The actions that start a program. */
const STARTS = /^-(?:exec|execdir|ok|okdir)$/;
/** Parses the expression of a find command: terms joined by `-o`, each a list of tests and actions. */
function parseExpression(words: readonly string[], { machine, frame }: ProgramCall): Expression {
  let at = 0;
  const next = () => words[at++] ?? '';

  function parse(): Expression {
    const terms: Expression[] = [];
    do {
      const parts: Expression[] = [];
      while (at < words.length && !/^(?:-o|-or|,|\))$/.test(words[at] ?? '')) parts.push(parsePart(next()));
      terms.push(combined(parts, false));
    } while (at < words.length && next() !== ')');
    return combined(terms, true);
  }

  function parsePart(word: string): Expression {
    if (word === '(') return parse();
    if (word === '!' || word === '-not') {
      const inner = parsePart(next());
      return (file) => negated(inner(file));
    }
    if (STARTS.test(word)) return start(argvOf());
    const name = word.replace(/^-/, '');
    if (/^i?(?:name|path|wholename)$/.test(name)) return nameTest(name, next());
    const value = WITH_ARGUMENT.has(name) ? next() : '';
    if (name === 'type') return ifKnown(({ isFolder }) => value.includes(isFolder ? 'd' : 'f'));
    if (name === 'maxdepth') return ifKnown(({ depth }) => depth <= Number(value));
    if (name === 'mindepth') return ifKnown(({ depth }) => depth >= Number(value));
    if (name === 'empty' || name === 'false') return ifKnown(() => false);
    if (name === 'delete') return remove;
    if (/^print(?:0|f)?$/.test(name)) return print(name === 'print0' ? '\0' : '\n');
    if (!/^f(?:print|ls)/.test(name))
      return /^(?:a|and|prune|true)$/.test(name) ? () => true : () => undefined;
    machine.write(frame.scope, next(), `find ${word}`);
    if (name === 'fprintf') next();
    return () => true;
  }

  /** Takes the words of `-exec … ;`. */
  function argvOf(): string[] {
    const argv: string[] = [];
    for (let word = next(); word !== ';' && at <= words.length; word = next()) {
      if (word === '+' && argv.at(-1)?.includes('{}') === true) break;
      argv.push(word);
    }
    return argv;
  }

  const start =
    (argv: readonly string[]): Expression =>
    ({ shown }) => {
      const named = argv.map((word) => word.replaceAll('{}', () => shown));
      machine.run.argv(machine, named, { ...frame, scope: frame.scope.layer() });
      return undefined;
    };

  const remove: Expression = ({ path, shown, isFolder }) => {
    // find(1) deletes a folder only if it is empty by then. Its files are judged one by one.
    if (shown !== UNKNOWN && !isFolder) machine.remove(frame.scope, path, 'find -delete');
    return true;
  };

  const print =
    (end: string): Expression =>
    ({ shown }) => {
      frame.output.add(shown + end);
      return true;
    };

  return parse();
}

const negated = (matches: boolean | undefined) => (matches === undefined ? undefined : !matches);

const ifKnown =
  (test: (file: Candidate) => boolean): Expression =>
  (file) =>
    file.shown === UNKNOWN ? undefined : test(file);

function nameTest(name: string, pattern: string): Expression {
  const folded = (text: string) => (name.startsWith('i') ? text.toLowerCase() : text);
  const isMatch = patternMatcher(folded(pattern));
  return ifKnown(({ shown }) => isMatch(folded(/^i?name$/.test(name) ? basename(shown) : shown)));
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

/** The most parentheses and negations in an expression that is read. */
const MAX_NESTED = 64;

function find(call: ProgramCall): Status {
  const { machine, frame } = call;
  const start = call.args.findIndex((word) => /^[-(!,]/.test(word) && !/^-[HLPDO]/.test(word));
  const roots = call.args.slice(0, start < 0 ? undefined : start).filter((word) => !word.startsWith('-'));
  const words = start < 0 ? [] : call.args.slice(start);
  if (words.filter((word) => /^(?:[!(]|-not)$/.test(word)).length > MAX_NESTED) machine.exhausted = true;
  if (machine.exhausted) return undefined;
  const matches = parseExpression(words, call);
  const prints = !words.some((word) => /^-(?:delete|print0?|printf|fprint|ls|fls|exec|ok|quit)/.test(word));
  const changes = words.some(
    (word, at) => word === '-delete' || (STARTS.test(word) && !READERS.has(words[at + 1] ?? '')),
  );
  for (const root of roots.length > 0 ? roots : ['.']) {
    if (changes) machine.changesBelow(machine.path(frame.scope, root));
    for (const candidate of candidatesBelow(call, root)) {
      if (matches(candidate) !== false && prints) frame.output.add(`${candidate.shown}\n`);
    }
    // One unknown path stands for everything else that find may visit.
    matches({ path: UNKNOWN, shown: UNKNOWN, depth: 1, isFolder: false });
    if (!prints || machine.disk.exists(machine.path(frame.scope, root) ?? '/'))
      frame.output.add(`${UNKNOWN}\n`);
  }
  return undefined;
}

export const FIND_PROGRAMS: ReadonlyMap<string, Program> = new Map([['find', find]]);
