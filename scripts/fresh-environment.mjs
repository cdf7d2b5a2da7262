/**
 * Follows README.md to the letter on a machine with nothing but git and Node: an empty home, no configuration, no
 * variables. Installs, goes on to the first refused commit, uninstalls, and checks what is left behind.
 *
 *   node scripts/fresh-environment.mjs [--clone]     from the packed tarball; --clone: from a copy of this working tree
 *
 * Prints every command with its output and the time in seconds, and ends with exit status 1 if anything is not as the
 * README says, or if it takes more than a minute. Unlike a user's machine, this one keeps npm off the network, installs the
 * tarball by its name, and in the copy uses the dependencies that are already here. The copy is deleted once it is
 * installed, as the README allows. The sessions are the demo's.
 */
import { execFileSync, fork, spawnSync } from 'node:child_process';
import { cpSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const LIMIT_SECONDS = 60;
/** Programs that every system has, and that npm (`sh`), the launcher and the git hooks need. */
const SYSTEM = ['sh', 'readlink', 'cat', 'grep', 'date', 'mkdir'];
const ROOT = dirname(import.meta.dirname);
const SESSIONS = {
  A: 'a1f0c3d2-6b7e-4c58-9d21-0e5f7a8b9c10',
  B: 'b7d94e06-13ac-4f8e-8a52-c4d6e8f0a2b4',
};
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-fresh-')));
const home = join(folder, 'home');
const app = join(home, 'app');
const node = join(folder, 'node', 'bin', 'node');
const environment = {
  ...{ HOME: home, PATH: `${dirname(node)}:${join(folder, 'bin')}` },
  ...{ npm_config_offline: 'true', npm_config_update_notifier: 'false' },
};
const clients = [];
let began = performance.now();

try {
  prepareMachine();
  const { install, init, sessions } = readCommands(readFileSync(join(ROOT, 'README.md'), 'utf8'));
  began = performance.now();
  installProgram(install);
  person(init);
  const seconds = await playSessions(sessions);
  must(seconds <= LIMIT_SECONDS, `the first refused commit within ${LIMIT_SECONDS} s`);
  takeOut();
  console.log(`first refused commit after ${seconds.toFixed(1)} s`);
} catch (error) {
  console.log(`FAILED: ${error.message}`);
  process.exitCode = 1;
} finally {
  for (const client of clients) client.kill();
  rmSync(folder, { recursive: true, force: true });
}

function must(condition, what) {
  if (!condition) throw new Error(what);
}

function elapsed() {
  return (performance.now() - began) / 1000;
}

/** Makes the machine: a copy of Node, which has its own global folder of npm; a link to git; a repository with a commit. */
function prepareMachine() {
  for (const path of [app, dirname(node), join(folder, 'node', 'lib', 'node_modules'), join(folder, 'bin')]) {
    mkdirSync(path, { recursive: true });
  }
  const real = realpathSync(process.execPath);
  try {
    linkSync(real, node);
  } catch {
    cpSync(real, node);
  }
  const npm = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim();
  symlinkSync(realpathSync(join(npm, 'npm')), join(folder, 'node', 'lib', 'node_modules', 'npm'));
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(dirname(node), 'npm'));
  for (const program of ['git', ...SYSTEM]) symlinkSync(which(program), join(folder, 'bin', program));
  person('git init -q -b main . && git config user.name You && git config user.email you@example.com');
  person("git commit -q --allow-empty -m 'Begin'");
}

function which(program) {
  const places = (process.env.PATH ?? '').split(':').map((place) => join(place, program));
  const found = places.find((place) => existsSync(place));
  must(found !== undefined, `${program} is on PATH`);
  return found;
}

/** Reads the README's own lines: how to install, what to type first, and the sessions of its first screen. */
function readCommands(readme) {
  const blocks = [...readme.matchAll(/^```(sh|console)\n(.*?)^```$/gms)];
  const text = blocks.find(([, language]) => language === 'sh')?.[2] ?? '';
  const [install = '', enter = ''] = text.split('\n').map((line) => line.replace(/ +#.*/, ''));
  const [, init] = /^cd ~\/app && (git handoff init)$/.exec(enter) ?? [];
  must(install.includes('npm i -g') && init !== undefined, 'the first block of sh installs, and switches on');
  const console = blocks.find(([, language]) => language === 'console')?.[2] ?? '';
  const sessions = [...console.matchAll(/^([AB])\$ (.*)$/gm)].map(([, who, command]) => ({ who, command }));
  must(sessions.length > 1, 'the first console block shows two sessions');
  return { install, init, sessions };
}

function installProgram(line) {
  if (process.argv.includes('--clone')) {
    const steps = line.split(' && ');
    must(steps.shift() === 'npm ci', 'the clone is installed with npm ci first');
    const clone = copyOfThis();
    person(steps.join(' && '), clone);
    rmSync(clone, { recursive: true });
    return;
  }
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    ...{ cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  });
  const [{ filename }] = Object.values(JSON.parse(packed));
  began = performance.now();
  person(`npm i -g ${join(folder, filename)}`, home);
}

/** Copies this working tree without history and ignored files, but with the installed dependencies. */
function copyOfThis() {
  const copy = join(folder, 'clone');
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files) if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Types a command as a person, at a terminal if `script` is installed, and answers yes to a question. */
function person(command, cwd = app) {
  const asks = /^git handoff (?:init|uninstall)$/.test(command);
  const script = asks && existsSync('/usr/bin/script');
  const line = script ? `/usr/bin/script -qec '${command}' /dev/null` : command + (asks ? ' --yes' : '');
  const options = { cwd, env: environment, input: script ? 'y\n' : '', encoding: 'utf8', timeout: 120_000 };
  const { status, stdout } = spawnSync('/bin/sh', ['-c', `exec 2>&1\n${line}`], options);
  show('$', command, asks ? '(its plan)\n' : stdout);
  must(status === 0, `\`${command}\` succeeds: ${stdout}`);
}

function show(prompt, command, output) {
  process.stdout.write(`${elapsed().toFixed(1).padStart(5)} s  ${prompt} ${command}\n${output}`);
}

/** Plays the lines of the first screen; returns after how many seconds its one commit was refused. */
async function playSessions(lines) {
  const sessions = { A: await startSession('A'), B: await startSession('B') };
  let refused;
  for (const { who, command } of lines) {
    const { output = '', status, denied, error } = await ask(sessions[who], { shell: command });
    must(error === undefined && denied === undefined, `${command}: ${error ?? denied}`);
    show(`${who}$`, command, output);
    if (status === 1 && refused === undefined) {
      must(output.includes('claude a1f0c3d2 changed it'), 'the refusal names the owner');
      refused = elapsed();
      continue;
    }
    must(status === 0, `\`${command}\` succeeds: ${output}`);
  }
  must(refused !== undefined, 'a commit is refused');
  return refused;
}

async function startSession(who) {
  const client = fork(join(ROOT, 'scripts', 'demo', 'client.mjs'), [SESSIONS[who]], {
    ...{ cwd: app, env: environment, execPath: node, execArgv: [] },
  });
  clients.push(client);
  await ask(client, { hook: 'SessionStart', source: 'startup' });
  return client;
}

function ask(client, request) {
  return new Promise((resolve, reject) => {
    client.once('exit', () => reject(new Error('the stand-in client ended')));
    client.once('message', resolve);
    client.send({ id: 0, ...request });
  });
}

/** Uninstalls, and expects only the repository and npm's own cache to be left in the home. */
function takeOut() {
  for (const client of clients.splice(0)) client.removeAllListeners('exit').kill();
  person('git handoff uninstall');
  const left = readdirSync(home).filter((name) => !['app', '.npm'].includes(name));
  must(left.length === 0, `nothing is left in the home: ${left.join(', ')}`);
  const hooks = readdirSync(join(app, '.git', 'hooks')).filter((name) => !name.endsWith('.sample'));
  must(hooks.length === 0, `no hook is left: ${hooks.join(', ')}`);
}
