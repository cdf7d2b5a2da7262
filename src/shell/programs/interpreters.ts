import { UNKNOWN, isKnown } from '../effects.ts';
import type { Program, ProgramCall } from '../machine.ts';
import { hasOption, parseOptions } from '../options.ts';
import { READERS } from '../read-only.ts';
import { recordNames, recordSpelled } from '../spelled.ts';

/** Programs that run a text in a language of their own. It is not parsed: the look after it finds what it changed. */
const LANGUAGES =
  'python pypy ipython node nodejs bun deno tsx ts-node php perl ruby lua luajit Rscript R julia elixir groovy osascript scala ' +
  'jshell awk gawk mawk nawk ed red ex vi vim nvim view rvim gvim emacs nano sqlite3 sqlite';
/** Programs that run what other files tell them. */
const BUILDERS =
  'make gmake ninja cmake npm yarn pnpm cargo go gradle mvn ant rake just task tox nox pytest jest vitest tsc ' +
  'docker podman kubectl ansible-playbook terraform vagrant ctest bazel sbt dotnet msbuild pre-commit lefthook';

/** Editors, which write the files that they are given. */
const EDITORS = /^(?:r?ed|ex|vi|[nrg]?vim|emacs|nano)$/;
/** Options by which a program changes the files that it is given. */
const IN_PLACE = /^(?:-[A-Za-z0-9]*i(?:[.~].*)?|--in-?place(?:=.*)?|inplace|-w|--write|--fix)$/;

/**
 * Handles an unknown program. Guarded names in its words and input count if these also write something. The look after
 * the command finds what else it changes.
 */
export const opaque: Program = (call) => {
  const { name, args, frame, machine } = call;
  const { scope, input } = frame;
  const isEditing = EDITORS.test(name) || args.some((word) => IN_PLACE.test(word));
  for (const word of args) {
    if (isEditing) recordNames(machine, scope, word, name);
    else recordSpelled(machine, scope, word, name);
  }
  for (const text of [input.rest, ...args.map((word) => scriptText(call, word))])
    if (text !== UNKNOWN) recordSpelled(machine, scope, text, name);
  const prints = READERS.has(name) || (/awk$/.test(name) && !isEditing);
  if (!prints) machine.changesBelow(machine.cwd(scope));
  if (!frame.output.text.endsWith(UNKNOWN)) frame.output.add(UNKNOWN);
  return undefined;
};

/** Returns the text of a script that this command has written. */
function scriptText({ machine, frame }: ProgramCall, word: string): string {
  const path = machine.path(frame.scope, word);
  return (path === undefined ? undefined : machine.disk.text(path)) ?? '';
}

/** Handles the `-i` of Perl and Ruby, which edits the named files as `sed -i` does. */
const filterLanguage: Program = (call) => {
  const { name, args, frame, machine } = call;
  const options = parseOptions(args, { short: 'e:E:i::I:M::m::r:F:C:x::l::0::', stops: true });
  const files = hasOption(options, 'e', 'E') ? options.operands : options.operands.slice(1);
  if (hasOption(options, 'i'))
    for (const file of files) machine.write(frame.scope, file, `${name} -i`, false);
  return opaque(call);
};

/** Programs that switch branches or commit everything with a git of their own: what they do, and by which words. */
const WRAPPERS: readonly (readonly [name: string, does: 'switch' | 'stash' | 'snapshot', words: RegExp])[] = [
  [
    'gh',
    'switch',
    /^(?:co|pr checkout|pr merge .*(?:-d|--delete-branch)|issue develop .*(?:-c|--checkout))\b/,
  ],
  ['glab', 'switch', /^(?:co|mr checkout)\b/],
  [
    'gt',
    'switch',
    /^(?:checkout|co|create|c|get|sync|restack|r|up?|down|d|top|t|bottom|b|delete|dl|fold|split|sp|move|pop|rename|unbranch|squash|sq|absorb|ab|undo|branch)(?= |$)/,
  ],
  // git-town(1) stashes uncommitted work while it switches, and applies it elsewhere.
  [
    'git-town',
    'stash',
    /^(?:hack|append|prepend|switch|sync|ship|kill|delete|compress|continue|skip|undo|merge|detach|swap|walk|up|down|park|observe|contribute|set-parent|rename|rename-branch)(?= |$)/,
  ],
  // Every jj command first commits the working tree; these leave it in a commit, or check out another one.
  [
    'jj',
    'snapshot',
    /^(?:abandon|absorb|backout|checkout|commit|ci|describe|desc|duplicate|edit|fix|merge|move|new|next|parallelize|prev|rebase|restore|revert|split|squash|undo|unsquash|simplify-parents|git (?:fetch|push|init)|op(?:eration)?(?! log| show))(?= |$)/,
  ],
  ['hub', 'switch', /^(?:checkout (?:.* )?https?:|pr checkout|sync|am)(?= |$|\/)/],
];

/** Records the git call that a program makes by itself. Returns false if its words ask for no such call. */
export function switchesBranch({ args, frame, machine }: ProgramCall, name: string): boolean {
  const words = args.map((word) => (isKnown(word) ? word : '…'));
  const [, does, sought] = WRAPPERS.find(([program]) => program === name) ?? [];
  // Options may precede the verb. Their values then count as words after it, where they matter little.
  const verb = words.filter((word) => !word.startsWith('-'));
  const options = words.filter((word) => word.startsWith('-'));
  if (sought === undefined || does === undefined || options.some((word) => /^(?:-h|--help)$/.test(word)))
    return false;
  if (!sought.test([...verb, ...options].join(' '))) return false;
  const cwd = machine.cwd(frame.scope);
  machine.git({
    cwd: isKnown(cwd) ? cwd : undefined,
    verb: does,
    words: does === 'switch' ? ['--detach', 'HEAD'] : does === 'stash' ? ['--include-untracked'] : [],
    by: [name.replace('-', ' '), ...words].join(' '),
  });
  return true;
}

const wrapper: Program = (call) => {
  const isGit = !switchesBranch(call, call.name) && call.name === 'hub';
  if (isGit) return call.machine.run.argv(call.machine, ['git', ...call.args], call.frame);
  call.frame.output.add(UNKNOWN);
  return undefined;
};

export const INTERPRETERS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...`${LANGUAGES} ${BUILDERS}`.split(' ').map((name) => [name, opaque] as const),
  ...['perl', 'ruby'].map((name) => [name, filterLanguage] as const),
  ...WRAPPERS.map(([name]) => [name, wrapper] as const),
]);
