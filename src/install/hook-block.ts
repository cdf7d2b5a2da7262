/**
 * The lines that `git handoff init` puts into a git hook. Pure; texts are binary strings (one character per byte), because a
 * hook may hold any bytes.
 */
import { NAMED_SESSION } from '../domain/names.ts';
import { shellQuote } from './guard-command.ts';
import { toBinary } from './json-text.ts';

/**
 * The hooks that we add to (githooks(5)): two check what is committed and pushed, and two put the session's trailer
 * into the message. prepare-commit-msg also checks the commit if `--no-verify` skipped pre-commit.
 */
export const GIT_HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'pre-push'] as const;
export type GitHook = (typeof GIT_HOOKS)[number];

const BLOCK_START = '# >>> git-handoff >>>';
const BLOCK_END = '# <<< git-handoff <<<';

export const NEW_HOOK = '#!/bin/sh\n';

const BLOCK = new RegExp(`^${BLOCK_START}\\n[^]*?^${BLOCK_END}(?:\\n|$)`, 'm');

const SHELLS = /^(?:sh|bash|dash|ash|ksh|mksh|zsh)$/;

/** Wraps lines in our markers; for any file whose comments begin with `#`. */
export function markedBlock(lines: readonly string[]): string {
  return toBinary([BLOCK_START, ...lines, BLOCK_END, ''].join('\n'));
}

/** The absolute path of our shim for that hook. */
export function shimPath(packageRoot: string, hook: GitHook): string {
  return `${packageRoot}/git-hooks/${hook}`;
}

/**
 * The block for a hook that holds nothing else; lines that other programs append later run after it. It sources our shim, so
 * that no second sh is started. It skips the shim when no session is on record or in the environment.
 */
export function soleBlock(hook: GitHook, packageRoot: string): string {
  const begin = [
    '# Made by `git handoff init`, taken out by `git handoff uninstall`. Lines of your own go below.',
    `handoff_shim=${shellQuote(shimPath(packageRoot, hook))}`,
  ];
  if (hook === 'pre-push') {
    return markedBlock([
      ...begin,
      'if [ -x "$handoff_shim" ]; then',
      '  handoff_input=$(cat)',
      `  ${piped('%s\\n', '$handoff_input')} | "$handoff_shim" "$@" || exit`,
      '  # What follows gets the refs, too.',
      '  if [ -n "$handoff_input" ]; then exec <<HANDOFF_END',
      '$handoff_input',
      'HANDOFF_END',
      '  fi',
      'fi',
    ]);
  }
  return markedBlock([
    ...begin,
    'for handoff_beat in .git/handoff/beat/*; do break; done',
    `handoff_named=\${GIT_DIR-}${NAMED_SESSION}`,
    ...(hook === 'pre-commit' ? LONE : []),
    'if [ ! -x "$handoff_shim" ]; then',
    missingNotice(hook),
    `elif ${nothingToDo(hook)}; then`,
    '  :',
    'else',
    '  (GIT_HANDOFF_GIT_PID=$PPID; . "$handoff_shim") || exit',
    'fi',
  ]);
}

/** Sets `handoff_lone` if a session is alone here and the environment names no other: its commit cannot mix work. */
const LONE = [
  'handoff_lone=',
  'if [ -f .git/handoff-solo ]; then',
  '  read -r handoff_solo handoff_process <.git/handoff-solo || :',
  '  case $handoff_named in',
  '    \'\' | "$handoff_solo" | "$handoff_solo$handoff_solo") handoff_lone=1 ;;',
  '  esac',
  'fi',
];

/** The condition under which the shim need not run. If `.git` is a file or GIT_DIR is set, sh cannot check it cheaply. */
function nothingToDo(hook: GitHook): string {
  const nobody = '{ [ -z "$handoff_named" ] && [ -d .git ] && [ ! -e "$handoff_beat" ]; }';
  if (hook === 'pre-commit') return `[ -n "$handoff_lone" ] || ${nobody}`;
  // Without an editor, prepare-commit-msg has added the trailer already.
  return hook === 'commit-msg' ? `[ "\${GIT_EDITOR-}" = : ] || ${nobody}` : nobody;
}

/** Writes a text into a pipe whose reader may end without reading it. */
function piped(format: string, text: string): string {
  return `{ trap '' PIPE; printf '${format}' "${text}" 2>/dev/null || :; }`;
}

/**
 * The block for a hook that exists already. The hook starts itself again as a child, from its own path with the same arguments,
 * input and interpreter. So everything below the block runs before our shim, and may end with `exit` or `exec`. The first status
 * that is not zero ends the hook. The child unsets GIT_HANDOFF_CHAINED at once, so that no command of the hook sees it.
 */
export function chainBlock(hook: GitHook, packageRoot: string): string {
  return markedBlock([
    '# Runs the hook below, then the one of git-handoff; `git handoff uninstall` takes it out.',
    `handoff_shim=${shellQuote(shimPath(packageRoot, hook))}`,
    'if [ -n "${GIT_HANDOFF_CHAINED-}" ]; then',
    '  unset GIT_HANDOFF_CHAINED handoff_shim',
    'elif [ -x "$handoff_shim" ]; then',
    ...(hook === 'pre-push' ? chainedPush() : chainedCommit(hook)),
    ...(hook === 'prepare-commit-msg' ? ['else', missingNotice(hook)] : []),
    'fi',
  ]);
}

function chainedCommit(hook: GitHook): string[] {
  return [
    // The hook's own lines may set changes aside for a while. After `begin`, such changes do not count as lost.
    ...(hook === 'pre-commit' ? ['  GIT_HANDOFF_GIT_PID=$PPID "$handoff_shim" begin'] : []),
    '  GIT_HANDOFF_CHAINED=1 "$0" "$@" || exit',
    '  GIT_HANDOFF_GIT_PID=$PPID; export GIT_HANDOFF_GIT_PID; exec "$handoff_shim" "$@"',
  ];
}

/** Both the hook and our shim read exactly the bytes that git wrote. */
function chainedPush(): string[] {
  const input = piped('%s', '${handoff_input%.}');
  return [
    '  handoff_input=$(cat; echo .)',
    `  ${input} | GIT_HANDOFF_CHAINED=1 "$0" "$@" || exit`,
    `  ${input} | "$handoff_shim" "$@"`,
    '  exit',
  ];
}

/** If the package is gone, prepare-commit-msg says so, once per commit. `-n` does not skip that hook. */
function missingNotice(hook: GitHook): string {
  return hook === 'prepare-commit-msg'
    ? '  printf \'%s\\n\' "git-handoff is not at $handoff_shim any more; going on without it" >&2'
    : '  :';
}

/** Whether the text holds our start marker as a line of its own. */
export function hasMarker(text: string): boolean {
  return new RegExp(`^${BLOCK_START}$`, 'm').test(text);
}

/** The path of our shim, as our block in this text names it; undefined without a block. */
export function namedShim(text: string): string | undefined {
  const quoted = /^handoff_shim='(.*)'$/m.exec(text)?.[1];
  return hasMarker(text) ? quoted?.replaceAll("'\\''", "'") : undefined;
}

/** The text without our blocks; undefined when a start marker has no end marker. */
export function withoutBlocks(text: string): string | undefined {
  let result = text;
  while (BLOCK.test(result)) result = result.replace(BLOCK, '');
  return hasMarker(result) ? undefined : result;
}

/** The hook with our block in it; the same text if the block is there already. `base`: the hook without a block. */
export function withBlock(current: string, base: string, hook: GitHook, packageRoot: string): string {
  const forms = [soleBlock(hook, packageRoot), chainBlock(hook, packageRoot)];
  if (current !== base && forms.some((block) => current.replace(block, '') === base)) return current;
  if (base === '' || base === NEW_HOOK) return NEW_HOOK + soleBlock(hook, packageRoot);
  const block = chainBlock(hook, packageRoot);
  if (!base.startsWith('#!')) return block + base;
  const lineEnd = base.indexOf('\n');
  return lineEnd < 0 ? `${base}\n${block}` : base.slice(0, lineEnd + 1) + block + base.slice(lineEnd + 1);
}

/** Whether a POSIX shell runs this hook. Without a first line `#!`, git passes it to `sh`. */
export function isShellScript(text: string): boolean {
  if (text.includes('\0')) return false;
  if (!text.startsWith('#!')) return true;
  const words = (text.slice(2).split('\n', 1)[0] ?? '').trimStart().split(/[ \t]+/);
  const name = (word: string | undefined) => word?.replace(/^.*\//, '') ?? '';
  if (name(words[0]) !== 'env') return SHELLS.test(name(words[0]));
  return SHELLS.test(name(words.slice(1).find((word) => !word.startsWith('-') && !word.includes('='))));
}
