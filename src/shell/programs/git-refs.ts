import { type Options, hasOption, optionValue, optionValues, parseOptions } from '../options.ts';
import type { Status } from '../machine.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';
import { printBranch, type GitCall, type GitVerb } from './git-call.ts';
import { runChildShell } from './shells.ts';

const HANDOFFS = 'refs/handoffs';

/** Records a changed ref. One that cannot be told counts as a handoff's when the command names those. */
function change({ call, repository, verb }: GitCall, ref: string, cwd = repository): void {
  const by = `git ${verb}`;
  if (isKnown(ref)) call.machine.ref(ref, cwd, by);
  else if (/refs\/handoffs/.test(ref.replaceAll(UNKNOWN, '')) || call.machine.mentionsHandoffs) {
    call.machine.ref(`${HANDOFFS}/*`, cwd, by);
  } else call.machine.unsure = true;
}

/** The words of a `git update-ref`: its operands are a ref, what it is to be, and what it was. */
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
  // `-d` takes one name; xargs may add several, of which git takes the second for the old value.
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

/** The local refs that the destination of a refspec may mean, by the rules of gitrevisions(7). */
function destinations(spec: string): string[] {
  const colon = spec.lastIndexOf(':');
  const name = spec.slice(colon + 1).replace(/^\+/, '');
  if (colon < 0 || name === '') return [];
  return name.startsWith('refs/') || !isKnown(name) ? [name] : [`refs/${name}`, `refs/heads/${name}`];
}

/** `git push` to a repository on this disk changes its refs. */
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

/** `git fetch` and `git pull` with a refspec whose right side is a local ref, given or configured here. */
function fetch(git: GitCall): Status {
  const options = parseOptions(git.args, {
    short: 'j:o:X:s:S:',
    long: 'depth= refmap= upload-pack= jobs= recurse-submodules=? negotiation-tip= filter= shallow-since= server-option= strategy=',
  });
  const [remote, ...specs] = options.operands;
  const name = remote ?? 'origin';
  const configured = git.config(`remote.${name}.fetch`);
  const isAll = hasOption(options, 'all', 'multiple') || (git.verb === 'remote' && remote === 'update');
  const own = [...git.call.machine.settings]
    .filter(([key]) => isAll && /^remote\..*\.fetch$/.test(key))
    .map(([, v]) => v);
  const all = [
    ...specs,
    ...optionValues(options, 'refmap'),
    ...own,
    ...(configured === undefined ? [] : [configured]),
  ];
  for (const spec of all) for (const ref of destinations(spec)) change(git, ref);
  if (hasOption(options, 'stdin')) {
    for (const spec of git.call.frame.input.rest.split('\n'))
      for (const ref of destinations(spec)) change(git, ref);
  }
  return undefined;
}

/** A verb that changes refs below one folder, named by its operands. */
function named(
  folder: string,
  values: string,
  writes: (words: readonly string[], flags: string) => readonly string[],
): GitVerb {
  return (git) => {
    const options = parseOptions(git.args, {
      short: values,
      long: 'sort= format= contains= points-at= message= file= set-upstream-to=',
    });
    const flags = [...options.values.keys()].join(' ');
    for (const name of writes(options.operands, flags)) change(git, folder + name);
    return undefined;
  };
}

const namedBranch = named('refs/heads/', 'u:t::', (words, flags) => {
  if (/\b(?:d|D|delete)\b/.test(flags)) return words;
  if (/\b(?:m|M|c|C|move|copy)\b/.test(flags)) return words;
  return /\b(?:l|list|a|r|all|remotes|contains|merged|no-merged|show-current|points-at|v|vv)\b/.test(flags)
    ? []
    : words.slice(0, 1);
});

function branch(git: GitCall): Status {
  if (git.args.includes('--show-current')) printBranch(git.call, '');
  return namedBranch(git);
}

const tag = named('refs/tags/', 'm:F:u:n::', (words, flags) => {
  if (/\b(?:d|delete)\b/.test(flags)) return words;
  return /\b(?:l|list|n|v|verify|contains|points-at|sort)\b/.test(flags) ? [] : words.slice(0, 1);
});

const replace = named('refs/replace/', '', (words, flags) =>
  /\b(?:l|list)\b/.test(flags) ? [] : words.slice(0, 1),
);

function notes(git: GitCall): Status {
  const options = parseOptions(git.args, { short: 'm:F:c:C:', long: 'ref= message= file=', stops: false });
  const name = (optionValue(options, 'ref') ?? 'commits').replace(/^refs\/notes\//, '');
  const [action] = options.operands;
  if (/^(?:add|append|edit|copy|remove|prune|merge)$/.test(action ?? '')) change(git, `refs/notes/${name}`);
  return undefined;
}

/** Rewriting history moves every ref that it is told of. */
function rewrite(git: GitCall): Status {
  for (const [n, word] of git.args.entries()) {
    if (/^--(?:msg|tree|index|env|parent|commit|tag-name)-filter$/.test(word))
      runChildShell(git.call, git.args[n + 1] ?? '');
  }
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

/** What a listing of refs prints, with `*` for names that only the repository knows. */
function forEachRef({ call, args, verb }: GitCall): Status {
  const options = parseOptions(args, {
    long: 'format= sort= count= points-at= contains= merged= exclude= heads tags',
  });
  const patterns = options.operands.length > 0 ? options.operands : ['*'];
  const fallback = verb === 'show-ref' ? `${UNKNOWN} %(refname)` : `${UNKNOWN} ${UNKNOWN}\t%(refname)`;
  const format = optionValue(options, 'format') ?? fallback;
  for (const pattern of patterns) {
    const isExact = pattern.includes('*') || pattern.split('/').length > 3;
    const ref = isExact ? pattern : `${pattern.replace(/\/$/, '')}/*`;
    const line = format.replace(/%\(([^()]*)\)|%([0-9a-f]{2})/gi, (_, field, code) => {
      if (code !== undefined) return String.fromCharCode(parseInt(String(code), 16));
      const name = String(field);
      if (name === 'refname') return ref;
      const strip =
        /^refname:(?:l?strip)=(\d+)$/.exec(name)?.[1] ?? (name === 'refname:short' ? '1' : undefined);
      return strip === undefined ? UNKNOWN : ref.split('/').slice(Number(strip)).join('/');
    });
    call.frame.output.add(`${line}\n`);
  }
  return undefined;
}

/** Verbs that change or list refs. */
export const GIT_REF_VERBS: ReadonlyMap<string, GitVerb> = new Map<string, GitVerb>([
  ['update-ref', updateRef],
  ['symbolic-ref', symbolicRef],
  ['push', push],
  ['send-pack', push],
  ['fetch', fetch],
  ['pull', fetch],
  ['branch', branch],
  ['tag', tag],
  ['replace', replace],
  ['notes', notes],
  ['filter-branch', rewrite],
  ['filter-repo', rewrite],
  ['fast-import', fastImport],
  ['for-each-ref', forEachRef],
  ['show-ref', forEachRef],
]);
