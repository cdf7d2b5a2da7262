// `npm run test:mac`: runs the demo and the tests whose result may differ on a Mac (test/mac/tests.json), on a Mac itself or on
// Linux with as much of a Mac as can be imitated. What the machine does not permit is skipped, and counted in the last line.
//   npm run test:mac [-- --all | <test file>…]
// `--all`: also all tests of the program tier, and all with two sessions.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { macWay } from '../bench/mac-way.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const own = (name) => join(root, 'test', 'mac', name);
const LISTED = JSON.parse(readFileSync(own('tests.json'), 'utf8'));
/** Programs that differ on macOS (test/mac/bsd), and those that macOS does not have. */
const PROGRAMS =
  'cat cp cut date find git grep head ln ls mkdir mktemp mv readlink realpath rm sed sort stat tail tee touch tr uniq wc xargs ' +
  'flock md5sum nproc setsid sha1sum sha256sum shuf stdbuf tac timeout';
/** Commands that must fail on a Mac. These and the commands in `WORKING`, which must succeed, check the imitation. */
const REFUSED = [
  ...[
    'test -e /proc/self',
    'timeout 1 true',
    'ps --forest',
    'date -d @0',
    'stat -c %n /',
    'readlink -e /',
    'ls --full-time',
  ],
  ...[
    'sed -i s/a/b/ "$file"',
    'cp --reflink "$file" x',
    'head -n -1 "$file"',
    'grep -P a "$file"',
    'find -name x',
    'tac "$file"',
  ],
];
const WORKING = [
  ...[
    'ps -A -o pid=,ppid=,stat=,lstart=',
    'date -u +%s',
    'readlink -f /',
    'rm -rf x',
    'mkdir -p "$TMPDIR"',
    'find . -name .',
  ],
  ...[
    'sed -i \'\' s/a/b/ "$file" && grep -q b "$file"',
    'cp -a "$file" "$file.x"',
    'tail -n +2 "$file"',
    'head -1 "$file"',
    'git --version',
  ],
];
/** Test files with two sessions import one of these. */
const TWO_SESSIONS = /\/(?:sharing|commit-hooks|operations|hostile)-world\.ts'/;
/** Tests to run in a folder where one file may have several names, which is slow. */
const NAMES = ['test/program/names-of-one-file.test.ts', 'test/program/symbolic-link-above.test.ts'];
/** $1: Python, $2: apfs.py, $3: a folder, $4: where it is mounted. The rest is the command. */
const MOUNT = `"$1" "$2" "$3" "$4" & files=$!
trap 'kill $files; wait $files' EXIT
until mountpoint -q "$4"; do kill -0 $files && sleep 0.1 || exit 1; done
shift 4
"$@"`;

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'test-mac-')));
// Some tests run programs as other users, who must be able to enter this folder.
chmodSync(scratch, 0o755);
const tally = { passed: 0, failed: 0, skipped: 0 };

function count(what, passed, failed, skipped) {
  tally.passed += passed;
  tally.failed += failed;
  tally.skipped += skipped;
  console.log(`${what}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
}

const run = ({ wrap, env }, words, options = { stdio: 'inherit' }) => {
  const { command, args } = wrap(process.execPath, words);
  return spawnSync(command, args, { cwd: root, env, maxBuffer: Infinity, ...options });
};

/** The first program on PATH with this name. */
const find = (name) =>
  process.env.PATH.split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** Makes a folder with stand-ins, which find the real programs in `real`. */
function standIns(folder, names) {
  mkdirSync(join(folder, 'real'), { recursive: true });
  for (const name of names.split(' ')) {
    symlinkSync(own('bsd'), join(folder, name));
    const real = find(name);
    if (real !== undefined) symlinkSync(real, join(folder, 'real', name));
  }
  return folder;
}

/** Imitates a Mac: no /proc, macOS's programs, a slow git, and temporary files behind a link. */
function imitated() {
  const way = macWay();
  if (way.skipped !== undefined) count(`no /proc, ps as macOS's, bash as sh (${way.skipped})`, 0, 0, 1);
  const { wrap, env, remove } = way.skipped === undefined ? way : plain;
  const programs = standIns(join(scratch, 'bin'), PROGRAMS);
  const TMPDIR = join(scratch, 'var', 'T');
  mkdirSync(join(scratch, 'private', 'T'), { recursive: true });
  symlinkSync('private', join(scratch, 'var'));
  const PATH = [programs, env.PATH].join(delimiter);
  const tests = { GIT_HANDOFF_TEST_MAC: programs, GIT_HANDOFF_TEST_PRELOAD: own('as-mac.cjs') };
  return { wrap, remove, env: { ...env, PATH, TMPDIR, ...tests }, isMac: way.skipped === undefined };
}

/** Mounts a folder in which a file has several names, if Python and FUSE are installed. */
function namedTwice() {
  const [files, shown] = ['files', 'shown'].map((name) => join(scratch, name));
  for (const folder of [files, shown]) mkdirSync(folder);
  const programs = standIns(join(scratch, 'node'), 'node');
  const preload = join(programs, 'as-mac.cjs');
  symlinkSync(own('as-mac.cjs'), preload);
  const unshare = ['--mount', ...(process.getuid() === 0 ? [] : ['--map-root-user'])];
  const python = ['/usr/bin/python3', 'python3'].find((path) => spawnSync(path, ['--version']).status === 0);
  const mounted = ['sh', '-c', MOUNT, 'sh', python ?? 'python3', own('apfs.py'), files, shown];
  const wrap = (command, args) => ({ command: 'unshare', args: [...unshare, ...mounted, command, ...args] });
  const names = { GIT_HANDOFF_TEST_MAC: programs, GIT_HANDOFF_TEST_PRELOAD: preload, TMPDIR: shown };
  const way = { wrap, env: { ...process.env, ...names } };
  const { status, stderr } = run(way, ['-e', ''], { encoding: 'utf8' });
  if (status === 0) return way;
  count(`a file with several names (${stderr.trim().split('\n').at(-1)})`, 0, 0, 1);
  return undefined;
}

/** Checks that the programs behave like a Mac's. */
function programs({ wrap, env }) {
  const file = join(scratch, 'file');
  writeFileSync(file, 'a\n');
  const wrong = ({ lines, when }) =>
    lines.filter((line) => {
      const { command, args } = wrap('sh', ['-c', line]);
      const { status } = spawnSync(command, args, { cwd: scratch, env: { ...env, file }, stdio: 'ignore' });
      return (status === 0) === when;
    });
  const found = [...wrong({ lines: REFUSED, when: true }), ...wrong({ lines: WORKING, when: false })];
  for (const line of found) console.log(`not as on a Mac: ${line}`);
  count('programs', ...(found.length === 0 ? [1, 0] : [0, 1]), 0);
}

function demo(way) {
  const { status, stdout, stderr } = run(way, [join(root, 'scripts', 'demo.mjs')], { encoding: 'utf8' });
  if (status !== 0) process.stdout.write(stdout + stderr);
  count('demo', ...(status === 0 ? [1, 0] : [0, 1]), 0);
}

function tests(what, way, files) {
  const report = join(scratch, 'report.json');
  rmSync(report, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const projects = ['--project', 'program', '--project', 'integration'];
  const { status } = run(way, [vitest, 'run', ...projects, ...reporters, ...files]);
  const counter = [join(root, 'scripts', 'ci-count-tests.mjs'), report, String(status), what];
  const counted = spawnSync(process.execPath, counter, { encoding: 'utf8' });
  process.stdout.write(counted.stderr);
  count(what, ...counted.stdout.split(' ', 3).map(Number));
  for (const [reason, titles] of Object.entries(LISTED.linuxOnly)) {
    for (const title of titles) tellSkipped(title, reason, report);
  }
}

/** All tests of the program tier, and the slower tests with two sessions. */
function everything() {
  const slower = readdirSync(join(root, 'test', 'integration'))
    .map((name) => `test/integration/${name}`)
    .filter((file) => file.endsWith('.test.ts') && TWO_SESSIONS.test(readFileSync(join(root, file), 'utf8')));
  return [...new Set(['test/program/', ...LISTED.files, ...slower])];
}

/** Says why a listed test did not run; a test that is not in its file counts as a failure. */
function tellSkipped(title, reason, report) {
  const [file, name] = title.split(/: (.*)/s);
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : [];
  const run = results.find((one) => basename(one.name) === file)?.assertionResults;
  if (run === undefined) return;
  if (run.some((test) => test.title === name && !['passed', 'failed'].includes(test.status)))
    console.log(`skipped: ${title} (${reason})`);
  else count(`${title}: listed in test/mac/tests.json, but no such test`, 0, 1, 0);
}

const plain = { wrap: (command, args) => ({ command, args }), env: process.env, remove: () => undefined };
const isLinux = process.platform === 'linux';
const way = isLinux
  ? imitated()
  : { ...plain, env: { ...process.env, GIT_HANDOFF_TEST_MAC: scratch }, isMac: true };
try {
  const words = process.argv.slice(2);
  const isWhole = words[0] === '--all';
  const chosen = isWhole ? everything() : words.length > 0 ? words : LISTED.files;
  const isChosen = words.length > 0 && !isWhole;
  if (way.isMac) programs(way);
  if (!isChosen) demo(way);
  // vitest ignores a missing file.
  for (const file of LISTED.files.filter((one) => !existsSync(join(root, one))))
    count(`${file} is gone`, 0, 1, 0);
  tests('tests', way, chosen);
  const other = isLinux && !isChosen ? namedTwice() : undefined;
  if (other !== undefined) tests('tests where a file has several names', other, NAMES);
} finally {
  way.remove();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;
