import type { ProgramCall, Status } from '../machine.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';
import { printBranch, type GitCall, type GitVerb } from './git-call.ts';
import { gitTown } from './git-wrappers.ts';
import { runChildShell } from './shells.ts';

/** `git config key value`: later parts of the command see it; `-f file` writes that file. */
function configure({ call, args }: GitCall): Status {
  const { machine, frame } = call;
  const file = fileOption(args);
  const words = args.filter(
    (word, n) =>
      !word.startsWith('-') && !/^(?:-f|--file|--type|--default|--comment)$/.test(args[n - 1] ?? ''),
  );
  const operands = words[0] === 'set' ? words.slice(1) : words;
  const removes = args.some((word) =>
    /^--(?:unset|unset-all|remove-section|rename-section|add|replace-all)$/.test(word),
  );
  const [key, value] = operands;
  if (
    file !== undefined &&
    (removes || value !== undefined || /^(?:unset|remove-section)$/.test(words[0] ?? ''))
  ) {
    machine.write(frame.scope, file, 'git config');
  }
  if (key === undefined || value === undefined || /^(?:get|list|unset)$/.test(words[0] ?? ''))
    return undefined;
  remember(call, key, value);
  return undefined;
}

function fileOption(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => word === '-f' || word === '--file');
  return at >= 0 ? args[at + 1] : args.find((word) => word.startsWith('--file='))?.slice('--file='.length);
}

/** Keeps a setting for the rest of the command, outside the layer of this one git call. */
function remember({ machine }: ProgramCall, key: string, value: string): void {
  machine.settings.set(key.toLowerCase(), value);
}

/** `git remote add --mirror=fetch` configures a refspec that covers every ref. */
function remote({ call, args }: GitCall): Status {
  const [action, ...rest] = args.filter((word) => !/^-(?:v|-verbose)$/.test(word));
  const name = rest.filter((word) => !word.startsWith('-'))[0];
  if (
    action === 'add' &&
    name !== undefined &&
    rest.some((word) => word === '--mirror' || word === '--mirror=fetch')
  ) {
    remember(call, `remote.${name}.fetch`, '+refs/*:refs/*');
  }
  return undefined;
}

/** Commands that git runs for other commands: `bisect run`, `rebase --exec`, `submodule foreach`. */
function nested({ call, verb, args }: GitCall): Status {
  const { machine, frame } = call;
  if (verb === 'bisect' && args[0] === 'run') machine.run.argv(machine, args.slice(1), frame);
  if (verb === 'submodule' && args.includes('foreach')) {
    const words = args.slice(args.indexOf('foreach') + 1).filter((word) => word !== '--recursive');
    runChildShell(call, words.join(' '));
  }
  for (const [n, word] of args.entries()) {
    if (/^(?:-x|--exec|--extcmd)$/.test(word)) runChildShell(call, args[n + 1] ?? '');
    else if (/^--(?:exec|extcmd)=/.test(word)) runChildShell(call, word.slice(word.indexOf('=') + 1));
  }
  return undefined;
}

/** What `git rev-parse` prints of the repository's folders, for `> "$(git rev-parse --git-dir)/…"`. */
function revParse({ call, args }: GitCall): Status {
  const { machine, frame } = call;
  let folder = machine.cwd(frame.scope);
  const start = folder;
  while (folder !== '/' && isKnown(folder) && !machine.disk.exists(`${folder}/.git`)) {
    folder = folder.slice(0, folder.lastIndexOf('/')) || '/';
  }
  const gitDir = isKnown(start) && machine.disk.isDirectory(`${folder}/.git`) ? `${folder}/.git` : UNKNOWN;
  if (args.includes('--abbrev-ref') && args.includes('HEAD')) printBranch(call, '');
  for (const word of args) {
    if (word === '--show-toplevel') frame.output.add(`${gitDir === UNKNOWN ? UNKNOWN : folder}\n`);
    else if (/^--(?:absolute-git-dir|git-dir|git-common-dir)$/.test(word)) frame.output.add(`${gitDir}\n`);
    else if (word === '--git-path') frame.output.add(`${gitDir}/${args[args.indexOf(word) + 1] ?? ''}\n`);
  }
  return undefined;
}

/** Verbs that configure, or that run other commands. */
export const GIT_OTHER_VERBS: ReadonlyMap<string, GitVerb> = new Map<string, GitVerb>([
  ['config', configure],
  ['remote', remote],
  ['rev-parse', revParse],
  ...['bisect', 'submodule', 'rebase', 'difftool', 'for-each-repo'].map((name) => [name, nested] as const),
  ['lfs', () => undefined],
  ['town', ({ call, args }) => gitTown({ ...call, args })],
]);
