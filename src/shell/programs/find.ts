import { basename, dirname, isBelow } from '../disk.ts';
import { UNKNOWN } from '../effects.ts';
import type { Shell, Status } from '../machine.ts';
import { READERS } from '../read-only.ts';
import { patternMatcher } from '../pattern.ts';

interface Candidate {
  readonly path: string;
  /** The path as find prints it: the root as given, then the path below it. */
  readonly shown: string;
  readonly depth: number;
  readonly isFolder: boolean;
}

/** Whether a file matches a part of a find expression; `undefined` when only the disk knows. Carries out actions on the way. */
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
const STARTS = /^-(?:exec|execdir|ok|okdir)$/;
/** Parses the expression of a find command: terms joined by `-o`, each a list of tests and actions. */
function parseExpression(shell: Shell, words: readonly string[]): Expression {
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
    shell.write(next(), `find ${word}`);
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
      shell.subshell().run(named);
      return undefined;
    };

  const remove: Expression = ({ path, shown, isFolder }) => {
    // find(1) deletes a folder only if it is empty by then. The files in it are judged one by one.
    if (shown !== UNKNOWN && !isFolder) shell.remove(path, 'find -delete');
    return true;
  };

  const print =
    (end: string): Expression =>
    ({ shown }) => {
      shell.print(shown + end);
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

/** Returns the root, the guarded paths under it, and the folders that lead to them. */
function candidatesBelow(shell: Shell, args: readonly string[], root: string): Candidate[] {
  const { disk } = shell.machine;
  const isFollowed = root.endsWith('/') || args.some((word) => /^-[HL]$|^-follow$/.test(word));
  const path = shell.path(root, isFollowed);
  if (path === undefined) return [];
  const found = new Map<string, Candidate>();
  const add = (each: string, isFolder: boolean) => {
    const rest = each.slice(path === '/' ? 0 : path.length);
    const depth = rest.split('/').length - 1;
    found.set(each, { path: each, shown: root.replace(/\/$/, '') + rest, depth, isFolder });
  };
  for (const watched of disk.world.watched(path)) {
    for (let up = dirname(watched); isBelow(up, path) && !found.has(up) && up !== '/'; up = dirname(up))
      add(up, true);
    add(watched, false);
  }
  if (!found.has(path)) add(path, disk.isDirectory(path));
  return [...found.values()];
}

/** The most parentheses and negations in an expression that we read. */
const MAX_NESTED = 64;

/** Handles `find`: carries out its actions on the guarded paths, and on one path that stands for all others. */
export function find(shell: Shell, args: readonly string[]): Status {
  const start = args.findIndex((word) => /^[-(!,]/.test(word) && !/^-[HLPDO]/.test(word));
  const roots = args.slice(0, start < 0 ? undefined : start).filter((word) => !word.startsWith('-'));
  const words = start < 0 ? [] : args.slice(start);
  if (words.filter((word) => /^(?:[!(]|-not)$/.test(word)).length > MAX_NESTED)
    shell.machine.exhausted = true;
  if (shell.machine.exhausted) return undefined;
  const matches = parseExpression(shell, words);
  const prints = !words.some((word) => /^-(?:delete|print0?|printf|fprint|ls|fls|exec|ok|quit)/.test(word));
  const changes = words.some(
    (word, at) => word === '-delete' || (STARTS.test(word) && !READERS.has(words[at + 1] ?? '')),
  );
  for (const root of roots.length > 0 ? roots : ['.']) {
    if (changes) shell.changesBelow(shell.path(root));
    for (const candidate of candidatesBelow(shell, args, root)) {
      if (matches(candidate) !== false && prints) shell.print(`${candidate.shown}\n`);
    }
    // One unknown path stands for everything else that find may visit.
    matches({ path: UNKNOWN, shown: UNKNOWN, depth: 1, isFolder: false });
    if (!prints || shell.machine.disk.exists(shell.path(root) ?? '/')) shell.print(`${UNKNOWN}\n`);
  }
  return undefined;
}
