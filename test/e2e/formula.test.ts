import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...names: string[]) => readFileSync(join(ROOT, ...names), 'utf8');
const MANIFEST = JSON.parse(read('package.json')) as {
  version: string;
  license: string;
  files: string[];
  engines: { node: string };
};
const PAGE = read('docs', 'release.md');
const FORMULA = /^```ruby\n(.*?)^```$/ms.exec(PAGE)?.[1] ?? '';
const NEXT = '9.9.9';

/** The lines of a block of the formula, without their indentation. */
const blockOf = (head: string): string[] => {
  const [, body = ''] = new RegExp(`^  ${head}\\n(.*?)^  end$`, 'ms').exec(FORMULA) ?? [];
  return body.split('\n').flatMap((line) => line.trim() || []);
};

/** A machine with one of the two package managers, and a repository. */
class Machine {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-formula-')));
  readonly home = join(this.folder, 'home');
  readonly app = join(this.home, 'app');
  readonly brew = join(this.folder, 'brew');
  readonly installs = join(this.home, '.local', 'share', 'mise', 'installs', 'npm-git-handoff');
  /** The tarball's bytes; the file itself is gone. */
  readonly tarball: Buffer;
  readonly #clients: ChildProcess[] = [];

  constructor() {
    mkdirSync(this.app, { recursive: true });
    this.tarball = this.#pack();
    expect(this.shell('git init -q -b main . && git commit -q --allow-empty -m Begin').status).toBe(0);
  }

  /** Packs the tarball as the workflow does, in a clone that is then removed. */
  #pack(): Buffer {
    const clone = join(this.folder, 'clone');
    for (const name of [...MANIFEST.files, 'package.json', 'README.md', 'LICENSE'])
      cpSync(join(ROOT, name), join(clone, name), { recursive: true });
    const { jobs } = parse(read('.github', 'workflows', 'release.yml')) as {
      jobs: { pack: { steps: { run?: string }[] } };
    };
    const line = jobs.pack.steps.flatMap(({ run }) => (run?.includes('npm pack') === true ? [run] : []))[0];
    const packed = this.shell(line ?? 'false', { cwd: clone, env: { RUNNER_TEMP: this.folder } });
    expect(packed.status, packed.output).toBe(0);
    rmSync(clone, { recursive: true });
    const [name = ''] = readdirSync(join(this.folder, 'packed'));
    const tarball = readFileSync(join(this.folder, 'packed', name));
    expect(name).toBe(`git-handoff-${MANIFEST.version}.tgz`);
    rmSync(join(this.folder, 'packed'), { recursive: true });
    return tarball;
  }

  shell(line: string, options: Options = {}): { status: number | null; output: string } {
    const { cwd = this.app, env = {}, programs = '', input = '' } = options;
    const environment = this.environment(programs);
    const { status, stdout } = spawnSync('/bin/sh', ['-c', `exec 2>&1\n${line}`], {
      ...{ cwd, env: { ...environment, ...env }, encoding: 'utf8', input },
    });
    return { status, output: stdout };
  }

  environment(programs: string): Record<string, string> {
    const folders = [programs, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'];
    const you = { NAME: 'You', EMAIL: 'you@example.com' };
    const names = Object.entries(you).flatMap(([key, value]) =>
      ['AUTHOR', 'COMMITTER'].map((who) => [`GIT_${who}_${key}`, value] as const),
    );
    return {
      ...{ PATH: folders.filter(Boolean).join(':'), HOME: this.home, GIT_CONFIG_NOSYSTEM: '1' },
      ...{ npm_config_offline: 'true', npm_config_update_notifier: 'false' },
      npm_config_cache: join(this.folder, 'cache'),
      ...Object.fromEntries(names),
    };
  }

  /** A session of the demo's stand-in client, which does each request between its hooks. */
  session(id: string, programs: string): Session {
    const client = fork(join(ROOT, 'scripts', 'demo', 'client.mjs'), [id], {
      ...{ cwd: this.app, env: this.environment(programs), execArgv: [] },
    });
    this.#clients.push(client);
    return (request) =>
      new Promise((resolve, reject) => {
        client.once('error', reject);
        client.once('message', (answer) => {
          resolve(answer as Answer);
        });
        client.send({ id: 0, ...request });
      });
  }

  end(): void {
    for (const client of this.#clients) client.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface Options {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly programs?: string;
  readonly input?: string | Buffer;
}

interface Answer {
  readonly output?: string;
  readonly status?: number;
  readonly denied?: string;
}

type Session = (request: Record<string, string>) => Promise<Answer>;

interface Manager {
  /** Installs that version, makes it the current one, and removes the others. */
  install(machine: Machine, version: string): void;
  remove(machine: Machine): void;
  /** The folder on PATH with the programs of that version. */
  programs(machine: Machine, version: string): string;
}

/** A link with a relative target, as both managers make them. */
const link = (target: string, path: string) => {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(relative(dirname(path), target), path);
};

const onlyFolder = (folder: string, name: string) => {
  for (const entry of readdirSync(folder))
    if (entry !== name) rmSync(join(folder, entry), { recursive: true });
};

/** Unpacks the published tarball, with that version in its manifest. */
function unpack(machine: Machine, version: string): string {
  const build = mkdtempSync(join(machine.folder, 'build-'));
  const unpacked = machine.shell('tar xzf - --strip-components=1', { cwd: build, input: machine.tarball });
  expect(unpacked.status, unpacked.output).toBe(0);
  const manifest = join(build, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"${MANIFEST.version}"`, `"${version}"`));
  return build;
}

/** What Homebrew does with the steps of a formula; an unknown step fails. */
const HOMEBREW: Manager = {
  install(machine, version) {
    const build = unpack(machine, version);
    const keg = join(machine.brew, 'Cellar', 'git-handoff', version);
    const libexec = join(keg, 'libexec');
    const places: Record<string, string> = { bin: join(keg, 'bin'), man1: join(keg, 'share', 'man', 'man1') };
    for (const step of blockOf('def install')) {
      const [, place = '', pattern = ''] =
        /^(bin|man1)\.install_symlink libexec\.glob\("([\w/]+)\/\*"\)$/.exec(step) ?? [];
      if (place !== '') {
        for (const name of readdirSync(join(libexec, pattern)))
          link(join(libexec, pattern, name), join(places[place] ?? '', name));
        continue;
      }
      expect(step).toBe('system "npm", "install", *std_npm_args');
      // Homebrew's Language::Node.std_npm_install_args packs the folder, and installs the package.
      mkdirSync(join(libexec, 'lib'), { recursive: true });
      const args = `--loglevel=silly --global --build-from-source --prefix='${libexec}' --ignore-scripts`;
      const packed = '"$PWD/$(npm pack --ignore-scripts | tail -n 1)"';
      const installed = machine.shell(`npm install ${args} ${packed}`, { cwd: build });
      expect(installed.status, installed.output).toBe(0);
    }
    // `brew link`, and `brew cleanup` of the older version.
    link(keg, join(machine.brew, 'opt', 'git-handoff'));
    for (const folder of ['bin', 'share/man/man1'])
      for (const name of readdirSync(join(keg, folder)))
        link(join(keg, folder, name), join(machine.brew, folder, name));
    onlyFolder(dirname(keg), version);
    rmSync(build, { recursive: true });
  },
  remove(machine) {
    for (const name of ['Cellar', 'opt', 'bin', 'share'])
      rmSync(join(machine.brew, name), { recursive: true });
  },
  programs: ({ brew }) => join(brew, 'bin'),
};

/** What mise does with `npm:git-handoff`: each version has its own npm prefix, and `latest` is a link. */
const MISE: Manager = {
  install(machine, version) {
    const build = unpack(machine, version);
    const prefix = join(machine.installs, version);
    const packed = '"$PWD/$(npm pack --ignore-scripts | tail -n 1)"';
    const installed = machine.shell(`npm install -g ${packed} --prefix '${prefix}'`, { cwd: build });
    expect(installed.status, installed.output).toBe(0);
    onlyFolder(machine.installs, version);
    link(prefix, join(machine.installs, 'latest'));
    rmSync(build, { recursive: true });
  },
  remove: ({ installs }) => {
    rmSync(installs, { recursive: true });
  },
  programs: ({ installs }, version) => join(installs, version, 'bin'),
};

describe('docs/release.md', () => {
  it('has a formula for the packed file of this version, with placeholders that the release fills in', () => {
    expect(FORMULA).toContain('class GitHandoff < Formula\n');
    expect(FORMULA).toMatch(new RegExp(`^  url ".*/git-handoff-${MANIFEST.version}\\.tgz"`, 'm'));
    expect(FORMULA).toMatch(/^ {2}sha256 "<[^>"]+>"$/m);
    expect(FORMULA).toContain(`\n  license "${MANIFEST.license}"\n`);
    const [, description = ''] = /^ {2}desc "(.*)"$/m.exec(FORMULA) ?? [];
    // What `brew audit` accepts.
    expect(description).toMatch(/^(?!An? |The )[A-Z].{10,60}[^.]$/);
  });

  it('names the package for mise', () => {
    expect(PAGE).toContain('mise use -g npm:git-handoff');
  });
});

describe.each([
  ['Homebrew', HOMEBREW],
  ['mise', MISE],
])('what %s has installed from the packed tarball', (_, manager) => {
  let machine: Machine;
  let programs = '';
  let sessions: readonly Session[] = [];
  beforeAll(async () => {
    machine = new Machine();
    manager.install(machine, MANIFEST.version);
    programs = manager.programs(machine, MANIFEST.version);
    const { status, output } = machine.shell('git handoff init --client claude --yes', { programs });
    expect(status, output).toBe(0);
    sessions = ['a1f0c3d2', 'b7d94e06'].map((id) =>
      machine.session(`${id}-13ac-4f8e-8a52-c4d6e8f0a2b4`, programs),
    );
    for (const ask of sessions) await ask({ hook: 'SessionStart', source: 'startup' });
  });
  afterAll(() => {
    machine.end();
  });

  /** A and B each change a file of their own; then B commits both. */
  async function mixedCommit(): Promise<Answer> {
    let last: Answer = {};
    for (const [index, ask] of sessions.entries()) {
      const all = index === 1 ? ' && git add -A && git commit -m Mixed' : '';
      last = await ask({ shell: `echo more >> ${index}.txt${all}` });
    }
    return last;
  }

  it('runs, and opens its manual', () => {
    const [, program = 'none'] = /"#\{bin\}\/([\w-]+ --version)"/.exec(blockOf('test do').join('\n')) ?? [];
    expect(machine.shell(program, { programs })).toEqual({
      status: 0,
      output: `git-handoff version ${MANIFEST.version}\n`,
    });
    const manual = join(dirname(programs), 'share', 'man', 'man1', 'git-handoff.1');
    expect(readFileSync(manual, 'utf8')).toBe(read('docs', 'git-handoff.1'));
  });

  it('refuses a mixed commit after the clone and the tarball are gone', async () => {
    expect(readdirSync(machine.folder).filter((name) => /^(?:clone|packed|build)/.test(name))).toEqual([]);
    const refused = await mixedCommit();
    expect(refused.output).toContain('claude a1f0c3d2 changed it');
    expect(refused.status).toBe(1);
  });

  it('refuses a mixed commit after an update has removed the version that ran `init`', async () => {
    manager.install(machine, NEXT);
    const refused = await mixedCommit();
    expect(refused.output).toContain('claude a1f0c3d2 changed it');
    expect(refused.status).toBe(1);
    const doctor = machine.shell('git handoff doctor', { programs: manager.programs(machine, NEXT) });
    expect(doctor.output).not.toMatch(/^(?:problem|warning)/m);
  });

  it('leaves commits possible after it is removed', async () => {
    manager.remove(machine);
    const commit = await mixedCommit();
    expect(commit.output).toMatch(/^git-handoff is not at .* any more; going on without it$/m);
    expect(commit.status).toBe(0);
  });
});
