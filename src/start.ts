import {
  existsSync,
  fstatSync,
  mkdirSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Module, createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { type Io, type Output, type Terminal, budgetUntil, processAge } from './host/io.ts';
import { readToEnd } from './host/pipe.ts';
import { beganBefore } from './host/processes.ts';

/**
 * What Node starts: it hands V8 the code that an earlier start compiled, loads the program, and runs it with what the
 * process has. Parsing the bundles costs a third of a decision, and as much of a verb. Node 22 has
 * `module.enableCompileCache`; this is the part of it that Node 20 lacks. A cache that is missing, of another build or of
 * another Node is replaced; one that cannot be kept is left out.
 */

declare const __BUILD__: string;
/** The bundle to load, relative to this file. */
declare const __ENTRY__: string;
/** True for the hooks: a call is allowed whatever goes wrong, and nobody sits at a terminal. */
declare const __IS_HOOK__: boolean;

interface Compiler {
  _compile(this: NodeJS.Module, content: string, filename: string): unknown;
}

const here = `${dirname(__filename)}/`;
const folder = cacheFolder();
const fresh = new Map<string, Script>();
const [, , first, second, third] = process.argv;
const verb = first === '--client-pid' ? third : first;
/** The verbs that are typed most have compiled code of their own, and exit as soon as everything is written. */
const isUsual =
  !__IS_HOOK__ &&
  ['write', 'show', 'list', 'boot', 'status', 'commit', 'overlap', 'sync'].includes(verb ?? '');
/** Calls of one kind find compiled what they run, and read nothing of the others; all else shares what came first. */
const kind = __IS_HOOK__ ? kindOfHook() : isUsual ? verb : '';

/** One of git's is named; the launcher says of a client's what it is about. */
function kindOfHook(): string | undefined {
  return first === 'hook' ? second : process.argv[process.argv.indexOf('--kind') + 1];
}

/** Below the user's state folder, which `init` makes and `uninstall` removes: without it nothing is kept. */
function cacheFolder(): string | undefined {
  const { XDG_STATE_HOME: base = '', HOME: home = '' } = process.env;
  const state = base.startsWith('/')
    ? base
    : home.startsWith('/')
      ? join(home, '.local', 'state')
      : undefined;
  if (state === undefined) return undefined;
  const own = join(state, 'git-handoff');
  // A home may be /dev/null, to which statSync would object.
  if (!existsSync(own)) return undefined;
  return join(own, 'code', `${__BUILD__}-${process.version}-${process.arch}`);
}

function installCache(cache: string): void {
  const compiler = Module.prototype as unknown as Compiler;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its module below
  const compile = compiler._compile;
  compiler._compile = function (content, filename) {
    if (!filename.startsWith(here)) return compile.call(this, content, filename);
    const cachedData = readCode(fileFor(cache, filename));
    const script = new Script(
      Module.wrap(content),
      cachedData === undefined ? { filename } : { filename, cachedData },
    );
    if (cachedData === undefined || script.cachedDataRejected === true) fresh.set(filename, script);
    type Body = (
      exports: unknown,
      require: unknown,
      module: unknown,
      filename: string,
      folder: string,
    ) => unknown;
    const body = script.runInThisContext() as Body;
    return body.call(this.exports, this.exports, this.require.bind(this), this, filename, dirname(filename));
  };
  process.on('exit', () => {
    if (fresh.size > 0) keepCode(cache);
  });
}

/** One folder for all: `cli/main.cjs` is kept as `cli-main.cjs`, or for `show` as `show-cli-main.cjs`. */
function fileFor(cache: string, filename: string): string {
  const own = /^[a-z-]+$/.test(kind ?? '') ? `${kind}-` : '';
  return join(cache, own + filename.slice(here.length).replaceAll('/', '-'));
}

/**
 * `undefined` where there is none. V8 would run whatever it is given, so the code is kept twice: a disk does not spoil
 * the same bit in both, and comparing them costs less than any sum.
 */
function readCode(file: string): Buffer | undefined {
  try {
    const kept = readFileSync(file);
    const code = kept.subarray(0, kept.length / 2);
    return code.length > 0 && code.equals(kept.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** At the end of the process: what was used is compiled by then. */
function keepCode(cache: string): void {
  try {
    // `uninstall` may have removed it meanwhile.
    if (statSync(dirname(dirname(cache)), { throwIfNoEntry: false }) === undefined) return;
    if (statSync(cache, { throwIfNoEntry: false }) === undefined) forgetOthers(dirname(cache));
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    for (const [filename, script] of fresh) {
      const file = fileFor(cache, filename);
      const temporary = `${file}.${process.pid}`;
      const code = script.createCachedData();
      writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600 });
      renameSync(temporary, file);
    }
  } catch {
    // A full disk, a folder that is not ours: the next start compiles again.
  }
}

/** Caches of other builds. */
function forgetOthers(parent: string): void {
  try {
    for (const name of readdirSync(parent)) rmSync(join(parent, name), { recursive: true, force: true });
  } catch {
    // There was none.
  }
}

/** Between two tries at a pipe that is full and does not block. Milliseconds. */
const PAUSE_MS = 5;

/** Without a stream, which takes 3 ms to make; so what was written is out, however the process ends. */
const output = (descriptor: number): Output => ({
  async write(data) {
    for (let bytes = Buffer.from(data as string); bytes.length > 0;) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EPIPE') return;
        if (code !== 'EAGAIN') throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      }
    }
  },
});

function terminal(): Terminal {
  return {
    isInput: isTerminal(0),
    isErrors: isTerminal(2),
    isOutput: isTerminal(1),
    input: () => process.stdin,
    output: () => process.stderr,
  };
}

/** A file or a pipe is none; `node:tty` loads all of `node:net`. */
function isTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(descriptor);
}

const io: Io = {
  stdin: { read: (chunk) => readSync(0, chunk), readAll: (budget) => readToEnd(0, budget) },
  stdout: output(1),
  stderr: output(2),
  ...(__IS_HOOK__ ? {} : { terminal: terminal() }),
  env: process.env,
  get cwd() {
    return process.cwd();
  },
  clock: Date.now,
  budget: (ms, launcher) => budgetUntil(ms - beganBefore(launcher), processAge),
  parentPid: process.ppid,
  piped: readToEnd,
  program: process.argv[1] ?? '',
};

interface Program {
  run(argv: readonly string[], io: Io): Promise<number>;
}

if (folder !== undefined) installCache(folder);
const ended = (createRequire(__filename)(__ENTRY__) as Program).run(process.argv.slice(2), io);
void ended.then(
  (status) => {
    // Left alone, Node collects garbage first. Other verbs may go on: `board --serve` does.
    if (__IS_HOOK__ || isUsual) process.exit(status);
    process.exitCode = status;
  },
  __IS_HOOK__ ? () => process.exit(0) : undefined,
);
