import { simpleGit } from 'simple-git';
import { Failure } from '../domain/failure.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { FIXED_CONFIG, gitEnvironment } from './environment.ts';
import { type PushOutcome, parsePorcelain } from './push-outcome.ts';
import { remoteWords } from './remote-words.ts';
import { gitFailure } from './run.ts';

/**
 * What goes over the wire: the only calls of git that open a connection. simple-git runs them, for it reads git's
 * progress; everything else about them is as in `run.ts`.
 */

/** How far a transfer is: git's own words for the stage, and percent of it. */
export interface TransferProgress {
  readonly stage: string;
  readonly percent: number;
}

export interface TransferOptions {
  readonly cwd: string;
  /** Called while something is under way; without it git is quiet. */
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Whether a person can answer when git asks for a password. */
  readonly mayAsk: boolean;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The refs of a remote are not what a crash may cost: they come again. A push of handoffs is judged by us, not by hooks. */
const CONFIG = FIXED_CONFIG.filter((word) => word !== '-c' && !word.startsWith('core.fsync='));

/**
 * What simple-git would refuse: the first two are our own settings, the others stand in the user's environment,
 * which is as good for this git as for one that is typed.
 */
const ALLOWED = {
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeSshCommand: true,
  allowUnsafeAskPass: true,
  allowUnsafeEditor: true,
  allowUnsafePager: true,
  allowUnsafeGitProxy: true,
  allowUnsafeExec: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeProtocolOverride: true,
};

function networkEnvironment(mayAsk: boolean): NodeJS.ProcessEnv {
  const { GIT_ALLOW_PROTOCOL: protocols } = process.env;
  const env = gitEnvironment(process.env, mayAsk ? { GIT_TERMINAL_PROMPT: '1' } : {});
  delete env['GIT_NO_LAZY_FETCH'];
  if (protocols === undefined) delete env['GIT_ALLOW_PROTOCOL'];
  else env['GIT_ALLOW_PROTOCOL'] = protocols;
  return env;
}

/** Sets a setting by the environment: `-c` cannot, for a remote's name may hold `=`. */
function withSetting(env: NodeJS.ProcessEnv, key: string, value: string): NodeJS.ProcessEnv {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const pair = { [`GIT_CONFIG_KEY_${count}`]: key, [`GIT_CONFIG_VALUE_${count}`]: value };
  return { ...env, ...pair, GIT_CONFIG_COUNT: String(count + 1) };
}

interface Extra {
  readonly input?: string;
  readonly setting?: readonly [key: string, value: string];
}

async function transfer(
  args: readonly string[],
  options: TransferOptions,
  { input, setting }: Extra = {},
): Promise<Ended> {
  const usual = networkEnvironment(options.mayAsk);
  const env = setting === undefined ? usual : withSetting(usual, ...setting);
  const { onProgress } = options;
  let failed: Ended | undefined;
  const git = simpleGit({
    baseDir: options.cwd,
    config: [...CONFIG],
    // Without this each call waits 50 ms after git's end.
    completion: { onExit: false, onClose: true },
    allowEnvironment: Object.keys(env),
    unsafe: ALLOWED,
    ...(input === undefined ? {} : { input: () => input }),
    ...(onProgress === undefined
      ? {}
      : {
          progress: (event: { stage: string; progress: number }) =>
            onProgress({ stage: event.stage, percent: event.progress }),
        }),
    errors: (error, { exitCode, stdErr, stdOut }) => {
      if (exitCode === 0) return error;
      const text = (parts: readonly Buffer[]) => Buffer.concat(parts).toString('utf8');
      failed = { code: exitCode, stdout: text(stdOut), stderr: text(stdErr) };
      return undefined;
    },
  }).env(env as Record<string, string>);
  const stdout = await git.raw([...args]);
  return failed ?? { code: 0, stdout, stderr: '' };
}

/** A ref as a remote shows it. */
export interface ShownRef {
  readonly name: string;
  readonly oid: Oid;
  /** Not a plain ref to a commit: an annotated tag, or a ref that stands for another one. */
  readonly odd: 'tag' | 'symbolic' | undefined;
}

/**
 * Asks a remote what it has below a prefix.
 *
 * @throws Failure `remote` when it cannot be asked
 */
export async function showRemote(
  options: TransferOptions,
  remote: string,
  prefix: string,
): Promise<ShownRef[]> {
  const result = await transfer(['ls-remote', '--symref', '--', remote, `${prefix}*`], options);
  if (result.code !== 0) throw unreachable(remote, result);
  return parseShown(result.stdout).filter(({ name }) => name.startsWith(prefix));
}

/** `<oid>TAB<ref>` lines; before that of a symbolic ref `ref: <target>TAB<ref>`, behind that of a tag one with `^{}`. */
function parseShown(output: string): ShownRef[] {
  const refs = new Map<string, ShownRef>();
  const symbolic = new Set<string>();
  for (const line of output.split('\n')) {
    const tab = line.indexOf('\t');
    const name = line.slice(tab + 1);
    const peeled = name.endsWith('^{}') ? refs.get(name.slice(0, -3)) : undefined;
    const oid = parseOid(line.slice(0, Math.max(tab, 0)));
    if (line.startsWith('ref: ')) symbolic.add(name);
    else if (peeled !== undefined) refs.set(peeled.name, { ...peeled, odd: 'tag' });
    else if (oid !== undefined)
      refs.set(name, { name, oid, odd: symbolic.has(name) ? 'symbolic' : undefined });
  }
  return [...refs.values()];
}

/**
 * Fetches refs to where the refspecs say, and nothing else: no tags, no `FETCH_HEAD`, no pruning, and whole
 * objects also into a partial clone, for a note must be readable offline.
 *
 * @throws Failure `remote` when the remote cannot be asked
 */
export async function fetchRefs(
  options: TransferOptions,
  remote: string,
  refspecs: readonly string[],
): Promise<void> {
  const args = [
    'fetch',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-prune',
    '--no-filter',
    '--refmap=',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    ...(options.onProgress === undefined ? [] : ['--progress']),
    '--stdin',
    '--',
    remote,
  ];
  const result = await transfer(args, options, { input: `${refspecs.join('\n')}\n` });
  // A ref that went away since it was shown: the next look tells.
  if (result.code === 0 || /couldn't find remote ref/.test(result.stderr)) return;
  throw cannotStore(result) ?? unreachable(remote, result);
}

/** A fetch that failed on this side: here is no room, or nothing may be written. */
function cannotStore({ code, stderr }: Ended): Failure | undefined {
  const own = stderr.split('\n').filter((line) => !line.startsWith('remote: '));
  const cause = own.find((line) => CANNOT_STORE.test(line));
  return cause === undefined
    ? undefined
    : gitFailure('fetch', { code, stdout: Buffer.alloc(0), stderr: cause });
}

const CANNOT_STORE =
  /No space left|Disk quota|Read-only file system|insufficient permission|failed to write object|unable to (?:write|create temporary)/;

/** What goes where. */
export interface PushedTip {
  readonly oid: Oid;
  readonly ref: string;
}

/** All refs below one prefix to the same names below another, but for some. */
export interface PushedPattern {
  readonly from: string;
  readonly to: string;
  /** Whole names below `from`. */
  readonly except: readonly string[];
}

/** Longest list of refspecs of one command line, in characters: systems allow 1 MiB and more. */
const MAX_COMMAND = 400_000;

/**
 * Pushes tips, each to its ref, plainly: never forced, so that the remote's own compare-and-swap decides.
 *
 * @throws Failure `remote` when the remote cannot be asked
 */
export async function pushRefs(
  options: TransferOptions,
  remote: string,
  tips: readonly PushedTip[],
  pattern?: PushedPattern,
): Promise<PushOutcome[]> {
  const outcomes: PushOutcome[] = [];
  const named = commandLines(tips.map(({ oid, ref }) => `${oid}:${ref}`));
  const { from = '', to = '', except = [] } = pattern ?? {};
  const lines =
    pattern === undefined ? named : [[`${from}*:${to}*`, ...except.map((ref) => `^${ref}`)], ...named];
  for (const part of lines) {
    const args = [
      'push',
      '--porcelain',
      '--no-verify',
      '--no-follow-tags',
      '--no-recurse-submodules',
      ...(options.onProgress === undefined ? [] : ['--progress']),
      '--',
      remote,
      ...part,
    ];
    // A mirror is pushed whole and by force, or not at all.
    const setting = [`remote.${remote}.mirror`, 'false'] as const;
    const result = await transfer(args, options, { setting });
    const told = parsePorcelain(result.stdout, result.stderr);
    // Of several addresses one may have been reached and another not.
    if (result.code !== 0 && told.every(({ kind }) => kind === 'pushed')) throw unreachable(remote, result);
    outcomes.push(...told);
  }
  return worstOf(outcomes);
}

/** A remote with several push addresses tells each ref several times: it is pushed when it is everywhere. */
function worstOf(outcomes: readonly PushOutcome[]): PushOutcome[] {
  const order = ['pushed', 'moved', 'declined'];
  const worst = new Map<string, PushOutcome>();
  for (const one of outcomes) {
    const former = worst.get(one.ref);
    if (former === undefined || order.indexOf(one.kind) > order.indexOf(former.kind)) worst.set(one.ref, one);
  }
  return [...worst.values()];
}

/** git pushes to a remote of `git clone --mirror` all or nothing, forced; refs by name only without that. */
export function notMirrored(remote: string): string[] {
  return ['-c', `remote.${remote}.mirror=false`];
}

function commandLines(refspecs: readonly string[]): string[][] {
  const lines: string[][] = [];
  let length = MAX_COMMAND;
  for (const refspec of refspecs) {
    if (length + refspec.length > MAX_COMMAND) {
      lines.push([]);
      length = 0;
    }
    lines.at(-1)?.push(refspec);
    length += refspec.length + 1;
  }
  return lines;
}

function unreachable(remote: string, { stderr }: Ended): Failure {
  const message = `${escapeLine(remote)} could not be asked: ${escapeLine(remoteWords(stderr))}`;
  return new Failure('remote', message, { hint: `git ls-remote ${shellWord(remote)}` });
}
