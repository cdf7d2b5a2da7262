// Mutation testing by a list of our own: `node scripts/mutants.mjs [--list] [--only <id>[,<id>…]] [--commit <rev>]`.
// Every mutant of test/mutants/mutants.json is put into a throw-away copy of the repository, and the tests that
// are expected to see it are run there. Exit status 1 below LEAST per cent. docs/reliability.md has the figures.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Per cent of the valid mutants that must be killed. */
const LEAST = 85;
/** One mutant's tests of one project; the unmutated ones of all mutants together. Milliseconds. */
const PATIENCE_MS = 180_000;
const BASELINE_PATIENCE_MS = 1_800_000;
/** What a process that was asked to end gets before it is ended. Milliseconds. */
const GRACE_MS = 5000;
/** On a busy machine a test may be late: it must fail twice to count, and to stop everything three times. */
const MUTATED = { bail: true, retry: 1, patience: PATIENCE_MS };
const BASELINE = { bail: false, retry: 2, patience: BASELINE_PATIENCE_MS };
/** Cheap ones first. */
const PROJECTS = ['unit', 'integration', 'faults'];

const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

const listed = JSON.parse(readFileSync(join(root, 'test/mutants/mutants.json'), 'utf8'));
const only = option('--only')?.split(',');
const mutants = only === undefined ? listed : listed.filter(({ id }) => only.includes(id));
if (mutants.length === 0) {
  console.error('error: no mutant of that name; the names: node scripts/mutants.mjs --list');
  process.exit(2);
}

/** A copy of the working tree (what git tracks or would add), or of a commit. */
function copyRepository(folder) {
  const commit = option('--commit');
  const git = (args, cwd = root) => {
    const done = spawnSync('git', args, { cwd, maxBuffer: 1 << 26 });
    if (done.status !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
    return done.stdout.toString('utf8');
  };
  if (commit === undefined) {
    const names = git(['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0');
    for (const name of names.filter((one) => one !== '' && existsSync(join(root, one)))) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      cpSync(join(root, name), join(folder, name), { verbatimSymlinks: true });
    }
    git(['init', '-q'], folder);
  } else {
    git(['clone', '-q', '--shared', '--no-checkout', '--', root, folder]);
    git(['checkout', '-q', '--detach', commit], folder);
  }
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
}

/** The process group that runs now; ended with us. */
let running;

/** Signals a process group; one that is gone already is none. */
function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Gone already.
  }
}

/** Runs a program in a process group of its own, which is ended past the time. `status` is null then. */
function run(program, args, cwd, patience) {
  return new Promise((resolve, reject) => {
    // In the tests' eyes nobody's session runs them.
    const hidden = /^(?:CLAUDE|CODEX|GEMINI|GIT_HANDOFF)_|^GIT_/;
    const kept = Object.entries(process.env).filter(([name]) => !hidden.test(name));
    // A test that is ended leaves its repositories behind: in a folder that goes with the copy.
    const env = { ...Object.fromEntries(kept), TMPDIR: join(cwd, '..', 'tmp') };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const output = [];
    let late = false;
    running = child.pid;
    const end = (signal) => signalGroup(child.pid, signal);
    const timers = [
      setTimeout(() => {
        late = true;
        end('SIGTERM');
        timers.push(setTimeout(() => end('SIGKILL'), GRACE_MS));
      }, patience),
    ];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      timers.forEach(clearTimeout);
      // What a killed test left running.
      end('SIGKILL');
      resolve({ status: late ? null : (code ?? 128), output: Buffer.concat(output).toString('utf8') });
    });
  });
}

/** The type errors of single files of the copy, as the compiler sees them beside all others. */
class TypeCheck {
  #versions = new Map();
  #service;

  constructor(folder) {
    const config = ts.readConfigFile(join(folder, 'tsconfig.json'), (name) => ts.sys.readFile(name));
    // A mutant may leave a name unused.
    const unused = { noUnusedLocals: false, noUnusedParameters: false };
    const { options, fileNames } = ts.parseJsonConfigFileContent(
      { ...config.config, include: ['src'] },
      ts.sys,
      folder,
      unused,
    );
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => ({ ...options, ...unused }),
      getScriptFileNames: () => fileNames,
      getScriptVersion: (name) => String(this.#versions.get(name) ?? 0),
      getScriptSnapshot: (name) => {
        const text = ts.sys.readFile(name);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      readDirectory: ts.sys.readDirectory,
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    });
  }

  firstError(file) {
    this.#versions.set(file, (this.#versions.get(file) ?? 0) + 1);
    const found = [
      ...this.#service.getSyntacticDiagnostics(file),
      ...this.#service.getSemanticDiagnostics(file),
    ].find(({ category }) => category === ts.DiagnosticCategory.Error);
    return found === undefined ? undefined : ts.flattenDiagnosticMessageText(found.messageText, ' ');
  }
}

/** Why a mutated file is no program; the tests would go red for that alone. */
function compileError(types, path) {
  if (path.endsWith('.ts')) return types.firstError(path);
  const { status, stderr } = spawnSync('sh', ['-n', path]);
  return status === 0 ? undefined : stderr.toString('utf8').trim();
}

/** Runs tests of one project. `name`: a regular expression of the tests' names. */
async function test(folder, { project, files, name }, { bail, retry, patience }) {
  const report = join(folder, '.mutants-report.json');
  rmSync(report, { force: true });
  const words = ['run', '--project', project, '--reporter=json', `--outputFile=${report}`];
  words.push(`--retry=${retry}`, ...(bail ? ['--bail=1'] : []));
  if (name !== undefined) words.push('-t', name);
  const program = join(folder, 'node_modules/vitest/vitest.mjs');
  const paths = files.map((file) => `test/${project}/${file}`);
  const { status, output } = await run(process.execPath, [program, ...words, ...paths], folder, patience);
  if (status === null) return { kind: 'timeout', by: '' };
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  const tests = (results?.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
  // What fails before the first test (a hook) is told by its file.
  const suite = results?.testResults.find((one) => one.status === 'failed')?.message.split('\n')[0];
  const names = tests.filter((one) => one.status === 'failed').map(({ fullName }) => fullName);
  const failed = names.length === 0 ? suite : names.join('; ');
  if (status !== 0) return { kind: 'red', by: failed ?? output.trim().split('\n').at(-1) };
  const ran = tests.filter((one) => one.status === 'passed').length;
  return ran === 0 ? { kind: 'none', by: 'no test has that name' } : { kind: 'green', by: '' };
}

async function build(folder) {
  const { status, output } = await run(process.execPath, ['scripts/build.mjs'], folder, PATIENCE_MS);
  return status === 0 ? undefined : output.trim().split('\n')[0];
}

/** The named tests without any mutation, each once: what is red already kills nothing. */
async function checkBaseline(folder) {
  const all = mutants.flatMap(({ tests }) => tests);
  for (const project of PROJECTS) {
    const here = all.filter((one) => one.project === project);
    const unnamed = here.filter(({ name }) => name === undefined).flatMap(({ files }) => files);
    const named = here.filter(({ name }) => name !== undefined);
    const names = [...new Set(named.map(({ name }) => `(?:${name})`))].join('|');
    const parts = [
      { project, files: [...new Set(unnamed)] },
      { project, files: [...new Set(named.flatMap(({ files }) => files))], name: names },
    ];
    for (const part of parts.filter(({ files }) => files.length > 0)) {
      const { kind, by } = await test(folder, part, BASELINE);
      if (kind !== 'green') throw new Error(`without a mutation the tests of ${project} are ${kind}: ${by}`);
    }
  }
}

/** `killed`, `timeout` (which the tests see as well), `survived`, or `invalid`. */
async function judge(folder, types, mutant) {
  const path = join(folder, mutant.file);
  const text = readFileSync(path, 'utf8');
  if (text.split(mutant.find).length !== 2)
    return { kind: 'invalid', by: 'the text to replace is not there once' };
  try {
    writeFileSync(
      path,
      text.replace(mutant.find, () => mutant.replace),
    );
    const error = compileError(types, path);
    if (error !== undefined) return { kind: 'invalid', by: error };
    let isBuilt = false;
    for (const project of PROJECTS) {
      for (const part of mutant.tests.filter((one) => one.project === project)) {
        if (project !== 'unit' && !isBuilt) {
          const failure = await build(folder);
          if (failure !== undefined) return { kind: 'invalid', by: failure };
          isBuilt = true;
        }
        const { kind, by } = await test(folder, part, MUTATED);
        if (kind === 'none') return { kind: 'invalid', by };
        if (kind === 'timeout') return { kind: 'timeout', by: `${project} ${part.files.join(' ')}` };
        if (kind === 'red') return { kind: 'killed', by };
      }
    }
    return { kind: 'survived', by: mutant.survives ?? mutant.hurts };
  } finally {
    writeFileSync(path, text);
    if (path.endsWith('.ts')) types.firstError(path);
  }
}

async function main() {
  if (process.argv.includes('--list')) {
    for (const { id, file, hurts } of mutants) console.log(`${id}  ${file}: ${hurts}`);
    return;
  }
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'git-notes-mutants-'));
  const folder = join(base, 'copy');
  for (const name of ['copy', 'tmp']) mkdirSync(join(base, name));
  const remove = () => rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      signalGroup(running, 'SIGKILL');
      remove();
      process.exit(130);
    });
  }
  const count = { killed: 0, timeout: 0, survived: 0, invalid: 0 };
  try {
    copyRepository(folder);
    const failure = await build(folder);
    if (failure !== undefined) throw new Error(`the copy cannot be built: ${failure}`);
    if (!process.argv.includes('--no-baseline')) await checkBaseline(folder);
    const types = new TypeCheck(folder);
    for (const mutant of mutants) {
      const began = performance.now();
      const { kind, by } = await judge(folder, types, mutant);
      count[kind] += 1;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.log(`${kind.padEnd(8)} ${mutant.id} (${seconds} s)${by === '' ? '' : `: ${by}`}`);
    }
  } finally {
    remove();
  }
  const killed = count.killed + count.timeout;
  const score = (100 * killed) / Math.max(1, killed + count.survived);
  console.log(
    `${killed} killed${count.timeout === 0 ? '' : ` (${count.timeout} by the time)`}, ${count.survived} survived, ` +
      `${count.invalid} invalid: score ${score.toFixed(1)} %`,
  );
  if (score < LEAST) process.exitCode = 1;
}

await main();
