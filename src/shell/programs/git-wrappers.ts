import type { ProgramCall, Program, Status } from '../machine.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';

/** Programs that switch branches, or commit everything there is, by a git of their own. */

/** What becomes of uncommitted work: it goes along to another branch, into a stash, or into a commit. */
type Deed = 'switch' | 'stash' | 'snapshot';

/** What the words after a program's name do. */
type Judge = (words: readonly string[], all: readonly string[]) => Deed | undefined;

const has = (all: readonly string[], ...options: readonly string[]) =>
  all.some((word) => options.includes(word));

function gh([noun, verb]: readonly string[], all: readonly string[]): Deed | undefined {
  if (noun === 'co' || (noun === 'pr' && verb === 'checkout')) return 'switch';
  if (noun === 'pr' && verb === 'merge' && has(all, '-d', '--delete-branch')) return 'switch';
  if (noun === 'issue' && verb === 'develop' && has(all, '-c', '--checkout')) return 'switch';
  return undefined;
}

function glab([noun, verb]: readonly string[]): Deed | undefined {
  return (noun === 'mr' && verb === 'checkout') || noun === 'co' ? 'switch' : undefined;
}

const GT =
  /^(?:checkout|co|create|c|get|sync|restack|r|up|u|down|d|top|t|bottom|b|delete|dl|fold|split|sp|move|pop|rename|unbranch|squash|sq|absorb|ab|undo|branch)$/;

function gt([verb = '']: readonly string[]): Deed | undefined {
  return GT.test(verb) ? 'switch' : undefined;
}

/** It puts uncommitted work into a stash while it switches, and takes it out again elsewhere. */
const TOWN =
  /^(?:hack|append|prepend|switch|sync|ship|kill|delete|compress|continue|skip|undo|merge|detach|swap|walk|up|down|park|observe|contribute|set-parent|rename|rename-branch)$/;

function town([verb = '']: readonly string[]): Deed | undefined {
  return TOWN.test(verb) ? 'stash' : undefined;
}

/** Every command of it commits the working tree first; these leave it in a commit, or check out another one. */
const JJ =
  /^(?:abandon|absorb|backout|checkout|commit|ci|describe|desc|duplicate|edit|fix|merge|move|new|next|parallelize|prev|rebase|restore|revert|split|squash|undo|unsquash|op|operation|simplify-parents)$/;

function jj([verb = '', noun]: readonly string[]): Deed | undefined {
  if (verb === 'git') return noun === 'fetch' || noun === 'push' || noun === 'init' ? 'snapshot' : undefined;
  if (verb === 'op' || verb === 'operation')
    return noun === 'log' || noun === 'show' ? undefined : 'snapshot';
  return JJ.test(verb) ? 'snapshot' : undefined;
}

/** The words without options; a value that stands apart counts as a word behind the verb, where it matters little. */
const words = (args: readonly string[]) => args.filter((word) => !word.startsWith('-'));

function wrapper(judge: Judge): Program {
  return (call) => {
    act(call, call.name, judge(words(call.args), call.args));
    call.frame.output.add(UNKNOWN);
    return undefined;
  };
}

function act({ args, frame, machine }: ProgramCall, name: string, deed: Deed | undefined): void {
  if (deed === undefined || has(args, '-h', '--help')) return;
  const cwd = machine.cwd(frame.scope);
  const typed = [name, ...args].map((word) => (isKnown(word) ? word : '…')).join(' ');
  machine.git({
    cwd: isKnown(cwd) ? cwd : undefined,
    verb: deed,
    words: deed === 'switch' ? ['--detach', 'HEAD'] : deed === 'stash' ? ['--include-untracked'] : [],
    by: typed,
  });
}

/** `git town`, by the words after it. */
export function gitTown(call: ProgramCall): Status {
  act(call, 'git town', town(words(call.args)));
  return undefined;
}

/** `hub` is git with more verbs. */
const hub: Program = (call) => {
  const [noun, verb, address = ''] = words(call.args);
  const isPull = noun === 'checkout' && /^https?:\/\//.test(verb ?? address);
  if (isPull || (noun === 'pr' && verb === 'checkout') || noun === 'sync' || noun === 'am') {
    act(call, 'hub', 'switch');
    return undefined;
  }
  return call.machine.run.argv(call.machine, ['git', ...call.args], call.frame, call.certain);
};

export const WRAPPER_PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['gh', wrapper(gh)],
  ['glab', wrapper(glab)],
  ['gt', wrapper(gt)],
  ['jj', wrapper(jj)],
  ['git-town', wrapper(town)],
  ['hub', hub],
]);
