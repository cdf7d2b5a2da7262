import { UNKNOWN, isKnown } from '../effects.ts';
import type { Status } from '../machine.ts';
import { type Options, hasOption, optionValue, optionValues, parseOptions } from '../options.ts';
import { type GitCall, type GitVerb, printBranch } from './git-files.ts';

/** Records a changed ref. An unknown one counts as a handoff's if the command names such refs. */
function change({ call, repository, verb }: GitCall, ref: string, cwd = repository): void {
  const by = `git ${verb}`;
  if (isKnown(ref)) call.machine.ref(ref, cwd, by);
  else if (/refs\/handoffs/.test(ref.replaceAll(UNKNOWN, '')) || call.machine.mentionsHandoffs) {
    call.machine.ref('refs/handoffs/*', cwd, by);
  }
}

/** Parses the words of a `git update-ref`: its operands are a ref, its new value and its old value. */
export function updateRefOptions(words: readonly string[]): Options {
  return parseOptions(words, { short: 'm:', long: 'no-deref stdin create-reflog batch-updates' });
}

function updateRef(git: GitCall): Status {
  const options = updateRefOptions(git.args);
  if (hasOption(options, 'stdin')) {
    const text = git.call.frame.input.rest;
    const names = refsIn(
      text,
      /(?:^|[\n\0])[^\S\n]*(?:update|create|delete|symref-update|symref-create|symref-delete) ([^ \n\0]+)/g,
    );
    for (const name of names) change(git, name.replace(/^"|"$/g, ''));
    if (!isKnown(text) && names.length === 0) change(git, UNKNOWN);
    return undefined;
  }
  const [ref, value] = options.operands;
  // `-d` takes one name. If xargs appends several, git takes the second for the old value.
  if (ref !== undefined && (value !== undefined || hasOption(options, 'd') || !isKnown(ref)))
    change(git, ref);
  return undefined;
}

function refsIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((found) => found[1] ?? '');
}

function symbolicRef(git: GitCall): Status {
  const options = parseOptions(git.args, { short: 'm:', long: 'delete quiet short recurse' });
  const [name, target] = options.operands;
  if (name === 'HEAD' && target === undefined)
    printBranch(git.call, hasOption(options, 'short') ? '' : 'refs/heads/');
  if (name !== undefined && (target !== undefined || hasOption(options, 'd', 'delete'))) change(git, name);
  return undefined;
}

/** Returns the local refs that the destination of a refspec may mean, by the rules of gitrevisions(7). */
function destinations(spec: string): string[] {
  const colon = spec.lastIndexOf(':');
  const name = spec.slice(colon + 1).replace(/^\+/, '');
  if (colon < 0 || name === '') return [];
  return name.startsWith('refs/') || !isKnown(name) ? [name] : [`refs/${name}`, `refs/heads/${name}`];
}

/** Handles `git push`, which changes the refs of a repository on this disk. */
function push(git: GitCall): Status {
  const { call, args } = git;
  const options = parseOptions(args, {
    short: 'o:',
    long: 'repo= receive-pack= exec= push-option= force-with-lease=? signed=? mirror all tags delete prune dry-run',
  });
  if (hasOption(options, 'n', 'dry-run')) return undefined;
  const [given, ...specs] = options.operands;
  const target = optionValue(options, 'repo') ?? given ?? '';
  const url = git.config(`remote.${target}.url`) ?? target;
  const place = url.replace(/^file:\/\//, '');
  if (!/^\.{0,2}\/|^\.{1,2}$|^~/.test(place)) return undefined;
  const path = call.machine.path(call.frame.scope, place);
  const cwd = path === undefined || place === '.' ? git.repository : path;
  const isOther = cwd !== git.repository;
  if (isOther && hasOption(options, 'mirror')) change(git, '*', cwd);
  for (const spec of specs) {
    if (hasOption(options, 'd', 'delete')) for (const ref of destinations(`:${spec}`)) change(git, ref, cwd);
    else if (spec.includes(':') || !isOther) for (const ref of destinations(spec)) change(git, ref, cwd);
    else for (const ref of destinations(`:${spec.replace(/^\+/, '')}`)) change(git, ref, cwd);
  }
  return undefined;
}

/** Handles `git fetch` and `git pull` with a refspec, given or configured here, whose right side is a local ref. */
function fetch(git: GitCall): Status {
  const options = parseOptions(git.args, {
    short: 'j:o:X:s:S:',
    long: 'depth= refmap= upload-pack= jobs= recurse-submodules=? negotiation-tip= filter= shallow-since= server-option= strategy=',
  });
  const [remote = 'origin', ...specs] = options.operands;
  const isAll = hasOption(options, 'all', 'multiple');
  const own = [...git.call.machine.settings].filter(([key]) => isAll && /^remote\..*\.fetch$/.test(key));
  const configured = git.config(`remote.${remote}.fetch`) ?? '';
  const all = [...specs, ...optionValues(options, 'refmap'), ...own.map(([, value]) => value), configured];
  for (const spec of all) for (const ref of destinations(spec)) change(git, ref);
  if (hasOption(options, 'stdin')) {
    for (const spec of git.call.frame.input.rest.split('\n'))
      for (const ref of destinations(spec)) change(git, ref);
  }
  return undefined;
}

/** Handles `branch`, `tag` and `notes`, whose refs lie elsewhere. Only the current branch's name matters. */
function branch({ call, args }: GitCall): Status {
  if (args.includes('--show-current')) printBranch(call, '');
  return undefined;
}

/** Handles the verbs that rewrite history: they move every ref that they are given. */
function rewrite(git: GitCall): Status {
  const names = git.args.filter((word) => word.startsWith('refs/'));
  const isAll = git.args.includes('--all') || git.verb === 'filter-repo';
  for (const name of isAll ? ['*'] : names) change(git, name);
  return undefined;
}

function fastImport(git: GitCall): Status {
  const text = git.call.frame.input.rest;
  const names = refsIn(text, /^(?:commit|reset) (refs\/\S+)/gm);
  for (const name of names) change(git, name);
  if (!isKnown(text)) change(git, UNKNOWN);
  return undefined;
}

/** The verbs that change refs, or name the branch that is checked out. */
export const GIT_REF_VERBS: ReadonlyMap<string, GitVerb> = new Map<string, GitVerb>([
  ['update-ref', updateRef],
  ['symbolic-ref', symbolicRef],
  ['push', push],
  ['send-pack', push],
  ['fetch', fetch],
  ['pull', fetch],
  ['branch', branch],
  ['filter-branch', rewrite],
  ['filter-repo', rewrite],
  ['fast-import', fastImport],
]);
