import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { processAge } from '../host/io.ts';
import { trace } from '../host/log.ts';
import { inBatches, gitFailure, runGit } from './run.ts';
import { FIXED_CONFIG, connecting, gitEnvironment } from './environment.ts';
import { notMirrored, remoteWords } from './config.ts';
import { userEnvironment, userGit } from './user-git.ts';

/** A ref as a remote shows it. */
export interface ShownRef {
  readonly name: string;
  readonly oid: Oid;
  /** What the ref is if not a plain ref to a commit: an annotated tag, or a symbolic ref. */
  readonly odd: 'tag' | 'symbolic' | undefined;
}

/**
 * Asks a remote which refs it has under a prefix.
 *
 * @throws Failure `remote` when it cannot be asked
 */
export async function showRemote(
  { cwd, mayAsk }: TransferOptions,
  remote: string,
  prefix: string,
): Promise<ShownRef[]> {
  const args = ['ls-remote', '--symref', '--', remote, `${prefix}*`];
  const result = await runGit(args, { cwd, env: connecting(mayAsk) });
  if (result.code !== 0) throw unreachable(remote, result);
  return parseShown(result.stdout.toString('utf8')).filter(({ name }) => name.startsWith(prefix));
}

/** Parses `<oid>TAB<ref>` lines. A line `ref: …` precedes a symbolic ref's line, and a line with `^{}` follows a tag's. */
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
 * Fetches refs to where the refspecs say, and nothing else: no tags, no `FETCH_HEAD`, no pruning. A partial clone gets
 * whole objects, too, because a note must be readable offline.
 *
 * @throws Failure `remote` when the remote cannot be asked
 */
export async function fetchRefs(
  options: TransferOptions,
  remote: string,
  refspecs: readonly string[],
): Promise<void> {
  const args = [
    ...['--no-tags', '--no-write-fetch-head', '--no-prune', '--no-filter', '--refmap='],
    // Always with `--progress`, because simple-git waits 50 ms for a git that printed nothing.
    ...['--no-recurse-submodules', '--no-auto-maintenance', '--progress', '--stdin', '--', remote],
  ];
  const fetch = (...how: string[]) =>
    transfer(['fetch', ...how, ...args], options, { input: `${refspecs.join('\n')}\n` });
  let result = await fetch();
  // In newer versions of git, a fetch fails if a commit is missing in a local history. `--refetch` fetches all objects, as for a
  // fresh clone, and so the missing ones, too.
  if (result.code !== 0 && HOLE.test(result.stderr)) result = await fetch('--refetch');
  // Another sync in this clone may move the same refs.
  for (let tries = 1; result.code !== 0 && localRace(result) !== undefined && tries < MAX_TRIES; tries += 1) {
    await new Promise((resume) => setTimeout(resume, PAUSE_MS * tries * (0.5 + Math.random())));
    result = await fetch();
  }
  // The remote has deleted a ref that it had listed: the next listing will show that.
  if (result.code === 0 || /couldn't find remote ref/.test(result.stderr)) return;
  throw cannotStore(result) ?? localRace(result) ?? unreachable(remote, result);
}

const HOLE = /^(?:error|fatal): could not (?:read|parse commit) [0-9a-f]{40,64}$/im;

const MAX_TRIES = 6;
const PAUSE_MS = 100;

/** The failure of a fetch when another process here has locked a ref. Errors about the server's refs begin with `remote: `. */
function localRace({ stderr }: Ended): Failure | undefined {
  const line = /^(?:error|fatal): .*cannot lock ref.*$/m.exec(stderr)?.[0];
  if (line === undefined) return undefined;
  const message = `another git process is moving the same refs in this clone: ${escapeLine(line)}`;
  return new Failure('lost-race', message, { hint: 'git handoff doctor' });
}

/** The failure of a fetch on this side: the disk is full, or we may not write. */
function cannotStore({ code, stderr }: Ended): Failure | undefined {
  const own = stderr.split('\n').filter((line) => !line.startsWith('remote: '));
  const cause = own.find((line) => CANNOT_STORE.test(line));
  return cause === undefined ? undefined : gitFailure('fetch', { code, stderr: cause });
}

const CANNOT_STORE =
  /No space left|Disk quota|Read-only file system|insufficient permission|failed to write object|unable to (?:write|create temporary)/;

/** A push of all refs under the prefix `from` to the same names under the prefix `to`, with exceptions. */
interface PushedPattern {
  readonly from: string;
  readonly to: string;
  /** Whole names under `from`. */
  readonly except: readonly string[];
}

const PUSH = ['--porcelain', '--no-verify', '--no-follow-tags', '--no-signed', '--no-recurse-submodules'];

/** The most refspecs of one command line, for which systems allow 1 MiB and more. */
const MOST_REFSPECS = 1000;

/**
 * Pushes tips, each to its ref, and never forces, so that the remote's own compare-and-swap decides.
 *
 * @throws Failure `remote` when the remote cannot be asked
 */
export async function pushRefs(
  options: TransferOptions,
  remote: string,
  tips: readonly { readonly oid: Oid; readonly ref: string }[],
  pattern?: PushedPattern,
): Promise<PushOutcome[]> {
  const outcomes: PushOutcome[] = [];
  const { from = '', to = '', except = [] } = pattern ?? {};
  const whole = pattern === undefined ? [] : [[`${from}*:${to}*`, ...except.map((ref) => `^${ref}`)]];
  const named = tips.map(({ oid, ref }) => `${oid}:${ref}`);
  for (const part of [...whole, ...inBatches(named, MOST_REFSPECS)]) {
    const progress = options.onProgress === undefined ? [] : ['--progress'];
    const args = ['push', ...PUSH, ...progress, '--', remote, ...part];
    const result = await transfer(args, options, { variables: notMirrored(process.env, remote) });
    const reports = parsePorcelain(result.stdout, result.stderr);
    // The remote has several addresses, and git did not reach all of them.
    if (result.code !== 0 && reports.every(({ kind }) => kind === 'pushed'))
      throw unreachable(remote, result);
    outcomes.push(...reports);
  }
  return worstOf(outcomes);
}

/**
 * Deletes one ref of a remote if it still has the value that was seen. Returns whether the ref is gone or has moved on; `false`
 * when the server refuses or cannot be asked. Skips this clone's hooks, because ours refuses every deletion of a handoff;
 * the server's hooks run.
 */
export async function deleteRemoteRef(
  cwd: string,
  remote: string,
  ref: RefName,
  seen: Oid,
): Promise<boolean> {
  const args = ['push', ...PUSH, `--force-with-lease=${ref}:${seen}`];
  const result = await userGit([...args, '--end-of-options', remote, `:${ref}`], {
    cwd,
    env: notMirrored(userEnvironment(process.env), remote),
    show: 'quiet',
  });
  return result.code === 0 || /\(stale info\)|\(fetch first\)/.test(result.stdout.toString('utf8'));
}

/** A remote with several push addresses reports each ref several times: it is pushed when every address has it. */
function worstOf(outcomes: readonly PushOutcome[]): PushOutcome[] {
  const order = ['pushed', 'moved', 'declined'];
  const worst = new Map<string, PushOutcome>();
  for (const one of outcomes) {
    const former = worst.get(one.ref);
    if (former === undefined || order.indexOf(one.kind) > order.indexOf(former.kind)) worst.set(one.ref, one);
  }
  return [...worst.values()];
}

function unreachable(remote: string, { stderr }: Pick<Ended, 'stderr'>): Failure {
  const message = `${escapeLine(remote)} could not be asked: ${escapeLine(remoteWords(stderr))}`;
  return new Failure('remote', message, { hint: `git ls-remote ${shellWord(remote)}` });
}

/** What became of one pushed ref. */
export interface PushOutcome {
  readonly ref: string;
  /** `moved`: somebody else was first · `declined`: the remote refuses the ref. */
  readonly kind: 'pushed' | 'moved' | 'declined';
  /** The remote's own words. */
  readonly reason: string;
}

/** `<flag>TAB<from>:<to>TAB<summary> (<reason>)` lines, git-push(1). */
function parsePorcelain(stdout: string, stderr: string): PushOutcome[] {
  return stdout.split('\n').flatMap((line): PushOutcome[] => {
    const [flag = '', refs = '', reason = ''] = line.split('\t');
    const ref = refs.slice(refs.indexOf(':') + 1);
    if (flag.length !== 1 || !ref.startsWith('refs/')) return [];
    if (flag !== '!') return [{ ref, kind: 'pushed', reason }];
    // Trying again does not help if a ref exists where this one needs a folder, or the other way round.
    const isBlocked = stderr.includes(`cannot create '${ref}'`);
    const kind = RACE.test(reason) && !isBlocked ? 'moved' : 'declined';
    return [{ ref, kind, reason: `${reason}${hookOutput(stderr)}` }];
  });
}

/** What git's client or receive-pack says of a ref that has moved, or is being moved right now. */
const RACE =
  /non-fast-forward|fetch first|stale info|failed to (?:update ref|lock)|cannot lock ref|reference already exists|incorrect old value|atomic/i;

/** What the remote's hook printed, on one line. */
function hookOutput(stderr: string): string {
  const lines = [...stderr.matchAll(/^remote: (.*)$/gm)].map(([, text = '']) => text.trim()).filter(Boolean);
  return lines.length === 0 ? '' : `: ${lines.slice(0, 6).join('; ').slice(0, 500)}`;
}

/** How far a transfer is: the stage in git's own words, and how much of it is done, in percent. */
export interface TransferProgress {
  readonly stage: string;
  readonly percent: number;
}

export interface TransferOptions {
  readonly cwd: string;
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
  /** Whether a person can answer when git asks for a password. */
  readonly mayAsk: boolean;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Not synced to the disk: the next fetch brings what a crash loses. No hooks: we judge a push of handoffs ourselves. */
const CONFIG = FIXED_CONFIG.filter((word) => word !== '-c' && !word.startsWith('core.fsync='));

/**
 * Allows settings that simple-git would refuse. The first two are our own. The others come from the user's environment, and are
 * as valid here as when the user runs git.
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

/**
 * Runs `git fetch` or `git push`, with `variables` on top of the environment. A non-zero exit is a value. Uses simple-git,
 * because it parses git's progress; everything else is as in `run.ts`.
 */
async function transfer(
  args: readonly string[],
  options: TransferOptions,
  { input, variables }: { readonly input?: string; readonly variables?: Readonly<Record<string, string>> },
): Promise<Ended> {
  const own = gitEnvironment(process.env, { ...connecting(options.mayAsk), ...variables });
  const env = Object.fromEntries(
    Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  // Loaded late: a sync that has nothing to do does not need it.
  const { simpleGit } = await import('simple-git');
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
      // git may print an error on the same line as its progress.
      failed = { code: exitCode, stdout: text(stdOut), stderr: text(stdErr).replaceAll('\r', '\n') };
      return undefined;
    },
  }).env(env);
  const began = processAge();
  const stdout = await git.raw([...args]);
  trace('git', () => `${args.join(' ')}: exit ${failed?.code ?? 0}`, began);
  return failed ?? { code: 0, stdout, stderr: '' };
}
