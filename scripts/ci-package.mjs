/**
 * Checks the package as it would be published, for `.ci/run`: contents, no dependencies, no install
 * scripts, and that it works after an offline install. Prints `<passed> <failed> 0 <what>` for each check
 * on stdout. Needs the bundles (`npm run build`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const REQUIRED = [
  ...['package.json', 'README.md', 'LICENSE', 'docs/git-handoff.1'],
  ...['bin/git-handoff', 'dist/start.cjs', 'dist/cli.cjs', 'dist/hook.cjs', 'dist/shell.cjs'],
  ...['skills/git-handoff/SKILL.md', 'plugins/opencode/index.js', 'THIRD-PARTY-LICENSES'],
];
const ALLOWED = /^(?:dist\/[\w.-]+\.cjs|git-hooks\/[\w.-]+|schema\/[\w.-]+\.json)$/;
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

const scratch = mkdtempSync(path.join(tmpdir(), 'git-handoff-package-'));
try {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const tarball = pack(scratch);
  checkFiles(tarball.files.map((file) => file.path));
  checkManifest(manifest);
  checkImports();
  checkInstalled(manifest, tarball.filename);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function report(what, problems) {
  console.log(`${problems.length === 0 ? '1 0' : '0 1'} 0 ${what}`);
  for (const problem of problems) console.error(`${what}: ${problem}`);
}

function pack(folder) {
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
  const answer = JSON.parse(run('npm', ['pack', ...options]));
  return Object.values(answer)[0]; // npm 10 and 11 print a list, npm 12 an object by name
}

function checkFiles(files) {
  const missing = REQUIRED.filter((file) => !files.includes(file));
  const unexpected = files.filter((file) => !REQUIRED.includes(file) && !ALLOWED.test(file));
  report('the package holds what it should and nothing else', [
    ...missing.map((file) => `missing: ${file}`),
    ...unexpected.map((file) => `unexpected: ${file}`),
  ]);
}

function checkManifest(manifest) {
  const kinds = ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies'];
  const dependencies = kinds.filter((kind) => Object.keys(manifest[kind] ?? {}).length > 0);
  report('the package has no run-time dependencies', dependencies);
  const scripts = INSTALL_SCRIPTS.filter((name) => manifest.scripts?.[name] !== undefined);
  report('the package has no install scripts', scripts);
}

/** Checks that the bundles load only each other and Node's own modules. */
function checkImports() {
  const problems = readdirSync('dist', { recursive: true })
    .filter((file) => file.endsWith('.cjs'))
    .flatMap((file) => {
      const text = readFileSync(path.join('dist', file), 'utf8');
      const names = [...text.matchAll(/\b(?:require|import)\(\s*["'`]([^"'`$]+)["'`]\s*\)/g)].map(
        ([, name]) => name,
      );
      return names
        .filter((name) => !name.startsWith('.') && !isBuiltin(name))
        .map((name) => `${file}: ${name}`);
    });
  report('the bundles need nothing but node', problems);
}

function checkInstalled(manifest, filename) {
  const prefix = path.join(scratch, 'prefix');
  const tarball = path.join(scratch, filename);
  run('npm', ['install', '--global', '--offline', '--no-audit', '--no-fund', `--prefix=${prefix}`, tarball]);
  const version = run(path.join(prefix, 'bin', 'git-handoff'), ['--version'], { cwd: scratch });
  report('the package works after an offline install', version.includes(manifest.version) ? [] : [version]);
  const page = path.join(prefix, 'share', 'man', 'man1', 'git-handoff.1');
  report('`git handoff --help` finds its page', existsSync(page) ? [] : [`missing: ${page}`]);
}

function run(program, args, options = {}) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
}
