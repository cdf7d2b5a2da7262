import { readFileSync } from 'node:fs';
import { BEGUN, type BegunVerb } from '../domain/begun-words.ts';
import { CAT_FILE } from './objects.ts';
import type { GitOptions } from './run.ts';

/*
 * What the launcher (bin/git-handoff) asks git while Node starts, for the verbs that are typed most: the first process that
 * Node itself starts costs it as much as four of git's. The answers come by one pipe, in an order in which the end of each
 * can be told: what others may have written comes last.
 */

/** By which the launcher's answers come. */
const DESCRIPTOR = 3;

/** Nothing where it cannot be read: git is asked then. */
function readPipe(): Buffer {
  try {
    return readFileSync(DESCRIPTOR);
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Where an answer ends that begins at `at`, if git knew one, and where the next one begins; `undefined`: it is not whole, nor
 * is what follows.
 */
type Ending = (
  bytes: Buffer,
  at: number,
) => { readonly end: number | undefined; readonly next: number } | undefined;

/** Behind a list that is whole stands a line with a dot. */
const DOT = '.\n';

/** One line, empty where git did not know. */
const ofLine: Ending = (bytes, at) => {
  const last = bytes.indexOf('\n', at);
  return last < 0 ? undefined : { end: last === at ? undefined : last + 1, next: last + 1 };
};

/** Entries that end in NUL, an empty one, and git's exit status. */
const ofEntries: Ending = (bytes, at) => {
  const end = bytes[at] === 0 ? at : bytes.indexOf('\0\0', at) + 1;
  const status = bytes.indexOf('\n', end);
  if (end < at || status < 0) return undefined;
  return { end: bytes.toString('latin1', end, status) === '\x000' ? end : undefined, next: status + 1 };
};

/** Lines. */
const ofLines: Ending = (bytes, at) => {
  if (isDot(bytes, at)) return { end: at, next: at + DOT.length };
  const last = bytes.indexOf(`\n${DOT}`, at);
  return last < 0 ? undefined : { end: last + 1, next: last + 1 + DOT.length };
};

/** Records as `listRefs` asks for them, each with its size. */
const ofRefs: Ending = (bytes, at) => {
  let end = at;
  while (!isDot(bytes, end)) {
    const size = afterFields(bytes, end, 4);
    const content = size === undefined ? undefined : afterFields(bytes, size, 1);
    if (size === undefined || content === undefined) return undefined;
    end = content + Number(bytes.toString('latin1', size, content - 1)) + 1;
  }
  return { end, next: end + DOT.length };
};

/** Behind so many fields, each of which ends in NUL. */
function afterFields(bytes: Buffer, at: number, count: number): number | undefined {
  const end = bytes.indexOf(0, at);
  if (end < 0) return undefined;
  return count === 1 ? end + 1 : afterFields(bytes, end + 1, count - 1);
}

const isDot = (bytes: Buffer, at: number) => bytes.toString('latin1', at, at + DOT.length) === DOT;

/** The last answer: all the rest. */
const ofRest: Ending = (bytes) =>
  isDot(bytes, bytes.length - DOT.length)
    ? { end: bytes.length - DOT.length, next: bytes.length }
    : undefined;

const { committer, tree, local, branches, sessions, handoffs, config, kept, work } = BEGUN;
const TOPIC = undefined;

/** A command and how its answer ends. */
type Begun = readonly [args: readonly string[] | undefined, Ending];

const TO_SYNC: readonly Begun[] = [
  [config, ofEntries],
  [sessions, ofRefs],
  [kept, ofLines],
  [work, ofLines],
  [handoffs, ofRest],
];

/** What is begun for each verb, in this order. Of a topic the questions come first: which they are depends on the branch. */
const ANSWERS: Readonly<Record<BegunVerb, readonly Begun[]>> = {
  write: [
    [committer, ofLine],
    [tree, ofEntries],
    [sessions, ofRefs],
    [TOPIC, ofRest],
  ],
  show: [
    [sessions, ofRefs],
    [TOPIC, ofRest],
  ],
  list: [
    [local, ofLines],
    [branches, ofLines],
    [sessions, ofRefs],
    [handoffs, ofRest],
  ],
  sync: TO_SYNC,
  fetch: TO_SYNC,
  push: TO_SYNC,
};

export const isBegunVerb = (verb: string | undefined): verb is BegunVerb =>
  verb !== undefined && Object.hasOwn(ANSWERS, verb);

/** One command and what it reads, as a key. */
const keyOf = (args: readonly string[], input = '') => JSON.stringify([args, input]);

function parse(verb: BegunVerb, bytes: Buffer): Map<string, Buffer> {
  const answers = new Map<string, Buffer>();
  let at = 0;
  for (const [args, ending] of ANSWERS[verb]) {
    const from = args === TOPIC ? bytes.indexOf('\n\n', at) + 2 : at;
    const key = args === TOPIC ? keyOf(CAT_FILE, bytes.toString('utf8', at, from - 1)) : keyOf(args);
    const { end, next } = ending(bytes, from) ?? {};
    if (next === undefined) break;
    if (end !== undefined) answers.set(key, bytes.subarray(from, end));
    at = next;
  }
  return answers;
}

/**
 * Gives what the launcher has asked git, for a verb and the folder that it was started in. Each answer is given once: whoever
 * asks again wants to know what is so now.
 *
 * @param read everything that the launcher pipes in; called when the first answer is needed
 */
export function begunAnswers(
  verb: BegunVerb,
  cwd: string,
  read: () => Buffer = readPipe,
): (args: readonly string[], options: GitOptions) => Buffer | undefined {
  const expected = new Set(ANSWERS[verb].map(([args]) => (args ?? CAT_FILE)[0]));
  let answers: Map<string, Buffer> | undefined;
  return (args, options) => {
    if (!expected.has(args[0] ?? '') || options.cwd !== cwd || options.env !== undefined) return undefined;
    answers ??= parse(verb, read());
    const key = keyOf(args, options.input?.toString());
    const answer = answers.get(key);
    answers.delete(key);
    return answer;
  };
}
