import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Script } from 'node:vm';

/**
 * What Node starts: it loads the bundles, hands V8 the code that an earlier start compiled, and runs the program. Parsing
 * the bundles costs a third of a decision, and as much of a verb. Node 22 has `module.enableCompileCache`; this is the part
 * of it that Node 20 lacks. A cache that is missing, of another build or of another Node is replaced; one that cannot be
 * kept is left out. This file alone is compiled at every start, so it holds nothing else.
 */

declare const __BUILD__: string;
/** The bundle to load, relative to this file. */
declare const __ENTRY__: string;
/** True for the hooks: a call is allowed whatever goes wrong. */
declare const __IS_HOOK__: boolean;

interface Program {
  /** Runs what the process was started for; its exit status. `first`: what was read of its standard input. */
  main(first?: Buffer): Promise<number>;
}

type Exports = Record<string, unknown>;
type Body = (exports: Exports, require: (name: string) => unknown, filename: string) => void;

const folder = cacheFolder();
const begun = beginning();
const [, , first, second, third, , fifth] = process.argv;
const verb = first !== '--client-pid' ? first : third?.startsWith('--begun') === true ? fifth : third;
/** The verbs that are typed most have compiled code of their own, and exit as soon as everything is written. */
const isUsual =
  !__IS_HOOK__ &&
  ['write', 'show', 'list', 'boot', 'status', 'commit', 'overlap', 'sync'].includes(verb ?? '');
/** Calls of one kind find compiled what they run, and read nothing of the others; all else shares what came first. */
const kind = __IS_HOOK__ ? kindOfHook() : isUsual ? verb : '';
const loaded = new Map<string, Exports>();
const fresh = new Map<string, Script>();

/** One of git's is named; of a client's the launcher says what it is about, with the other words or as the first that it feeds. */
function kindOfHook(): string | undefined {
  if (first === 'hook') return second;
  const at = process.argv.indexOf('--kind');
  return at < 0 ? begun?.toString('latin1', 0, 20).split(/[ \0]/)[0] : process.argv[at + 1];
}

/** What the launcher has fed by now, where it does not say what the call is about otherwise; nothing is waited for. */
function beginning(): Buffer | undefined {
  if (!__IS_HOOK__ || !process.argv.includes('--fed') || process.argv.includes('--kind')) return undefined;
  try {
    const own = openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const chunk = Buffer.allocUnsafeSlow(65_536);
      return chunk.subarray(0, readSync(own, chunk));
    } finally {
      closeSync(own);
    }
  } catch {
    return undefined;
  }
}

/** Below the user's state folder, which `init` makes and `uninstall` removes: without it nothing is kept. */
function cacheFolder(): string | undefined {
  const { XDG_STATE_HOME: base = '', HOME: home = '' } = process.env;
  const state = base.startsWith('/') ? base : home.startsWith('/') ? `${home}/.local/state` : undefined;
  // A home may be /dev/null, to which statSync would object.
  if (state === undefined || !existsSync(`${state}/git-handoff`)) return undefined;
  return `${state}/git-handoff/code/${__BUILD__}-${process.version}-${process.arch}`;
}

/**
 * Loads a bundle that lies in a folder of ours, once. Node's own `require` would look for it by all the rules that there
 * are: half a millisecond a file.
 */
function load(filename: string): Exports {
  const known = loaded.get(filename);
  if (known !== undefined) return known;
  const exports: Exports = {};
  loaded.set(filename, exports);
  const cachedData = folder === undefined ? undefined : readCode(fileFor(folder, filename));
  // For UTF-8 alone Node has a shorter way; bundles are ASCII (scripts/build.mjs).
  const source = `(function (exports, require, __filename) {${readFileSync(filename, 'utf8')}\n})`;
  const script = new Script(source, cachedData === undefined ? { filename } : { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected === true) fresh.set(filename, script);
  const beside = filename.slice(0, filename.lastIndexOf('/'));
  (script.runInThisContext() as Body)(
    exports,
    (name) => (name.startsWith('.') ? load(resolved(beside, name)) : process.getBuiltinModule(name)),
    filename,
  );
  return exports;
}

/** The file that `./name` or `../name` means in a folder. */
function resolved(beside: string, name: string): string {
  return name.startsWith('../')
    ? resolved(beside.slice(0, beside.lastIndexOf('/')), name.slice('../'.length))
    : `${beside}/${name.slice('./'.length)}`;
}

/** One folder for all: `cli/main.cjs` is kept as `cli-main.cjs`, or for `show` as `show-cli-main.cjs`. */
function fileFor(cache: string, filename: string): string {
  const own = /^[a-z-]+$/.test(kind ?? '') ? `${kind}-` : '';
  return `${cache}/${own}${filename.slice(__dirname.length + 1).replaceAll('/', '-')}`;
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
    const all = cache.slice(0, cache.lastIndexOf('/'));
    // `uninstall` may have removed it meanwhile.
    if (!existsSync(all.slice(0, all.lastIndexOf('/')))) return;
    if (statSync(cache, { throwIfNoEntry: false }) === undefined) forgetOthers(all);
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
    for (const name of readdirSync(parent)) rmSync(`${parent}/${name}`, { recursive: true, force: true });
  } catch {
    // There was none.
  }
}

process.on('exit', () => {
  if (folder !== undefined && fresh.size > 0) keepCode(folder);
});
const program = load(`${__dirname}/${__ENTRY__}`) as unknown as Program;
void program.main(begun).then(
  (status) => {
    // Left alone, Node collects garbage first. Other verbs may go on: `board --serve` does.
    if (__IS_HOOK__ || isUsual) process.exit(status);
    process.exitCode = status;
  },
  __IS_HOOK__ ? () => process.exit(0) : undefined,
);
