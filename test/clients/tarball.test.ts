import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { short } from '../support/client/expectations.ts';
import {
  CLAUDE_HANDS,
  CODEX_HANDS,
  COPILOT_HANDS,
  GEMINI_HANDS,
  type HandRun,
  type Hands,
  OPENCODE_HANDS,
  QWEN_HANDS,
} from '../support/client/hands.ts';
import { REPOSITORY } from '../support/client/paths.ts';
import { bothEnded, expectRefusal, historyOf, NEXT_COMMAND } from '../support/client/sharing.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say, type Turn } from '../support/model/script.ts';

/** This package as a person has it after installing the packed tarball. */
interface Installed {
  /** The folder in which npm linked the program. */
  readonly programs: string;
  remove(): void;
}

/** Packs this repository as built, and installs the tarball into an empty prefix without a network. */
function installPacked(): Installed {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'git-handoff-packed-')));
  const prefix = path.join(root, 'prefix');
  const npm = (args: readonly string[], cwd: string): void => {
    const env = {
      PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: root,
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    execFileSync('npm', args, { cwd, env, stdio: 'pipe' });
  };
  npm(['pack', '--ignore-scripts', '--pack-destination', root], REPOSITORY);
  const tarball = readdirSync(root).find((name) => name.endsWith('.tgz')) ?? '';
  mkdirSync(prefix);
  npm(
    ['install', '--global', '--no-audit', '--no-fund', `--prefix=${prefix}`, path.join(root, tarball)],
    root,
  );
  return {
    programs: path.join(prefix, 'bin'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

const TOPIC = 'main/auth-refresh';
const REF = `refs/handoffs/${TOPIC}`;
const writeNote = (text: string): string => `printf '${text}\\n' | git handoff write ${TOPIC}`;
/** Commits everything that is dirty in the working tree, whoever owns it. */
const commitAll = (who: string): string => `git add -A && git commit -m 'Work of ${who}'`;

/** Where each client has its hooks, and the person's file there: valid, but not formatted as a program would print it. */
const SETTINGS = {
  claude: ['.claude/settings.json', '{ "cleanupPeriodDays" : 20,\n   "hooks": {}}'],
  codex: ['.codex/hooks.json', '{"hooks" :\n   {}}'],
  gemini: ['.gemini/settings.json', undefined],
  copilot: ['.copilot/hooks/git-handoff.json', '{"version":1, "hooks" :{ }}'],
  qwen: ['.qwen/settings.json', undefined],
  opencode: ['.config/opencode/plugin/git-handoff.js', undefined],
} as const;

/** What the person had before `git handoff init`, which `git handoff uninstall` must restore. */
interface Before {
  /** The texts of the files, without Codex's records of hooks that the person has trusted. */
  readonly settings: readonly string[];
  readonly gitConfig: string;
  readonly hooks: readonly string[];
}

/** Codex's record of a hook that the person has trusted. */
const TRUST = /^\[hooks\.state\..*\]\ntrusted_hash = .*\n/gm;

interface Played {
  readonly world: World;
  readonly before: Before;
  readonly a: HandRun;
  readonly b: HandRun;
}

/** A home with only what the client needs, in which the person types `git handoff init`. */
async function installedWorld(programs: string, hands: Hands): Promise<World & { readonly before: Before }> {
  const world = await createWorld({ programs });
  onTestFinished(() => world.remove());
  await world.output('git config user.name Dev && git config user.email dev@example.com');
  hands.prepare(world);
  const [file, content] = SETTINGS[hands.client];
  if (content !== undefined) {
    mkdirSync(path.dirname(path.join(world.home, file)), { recursive: true });
    writeFileSync(path.join(world.home, file), content);
  }
  const before = stateOf(world, hands);
  await world.output(`git handoff init --client ${hands.client} --yes`);
  expect(stateOf(world, hands).settings[0]).toContain('guard');
  await hands.trust(world);
  return { ...world, before };
}

function stateOf({ home, repository }: World, { client }: Hands): Before {
  const hooks = path.join(repository, '.git', 'hooks');
  const files = [SETTINGS[client][0], ...(client === 'codex' ? ['.codex/config.toml'] : [])];
  return {
    settings: files.map((file) => textOf(path.join(home, file)).replaceAll(TRUST, '')),
    gitConfig: readFileSync(path.join(repository, '.git', 'config'), 'utf8'),
    hooks: existsSync(hooks) ? readdirSync(hooks).sort() : [],
  };
}

/** OpenCode's hooks are in a file of their own. */
function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** A owns a note and a change; B, live at the same time, tries to take both. */
async function play(world: World & { readonly before: Before }, hands: Hands): Promise<Played> {
  const gates = createGates();
  const ofA: Turn[] = [
    hands.shell(writeNote('note of A'), { opens: 'A is there', waitsFor: 'B is there' }),
    ...hands.change(world, 'a.txt', { from: 'hello', to: 'hello of A' }, {}),
    hands.shell(writeNote('second note of A'), { opens: 'A has worked', waitsFor: 'B is over' }),
    hands.shell(commitAll('A')),
    say('done'),
  ];
  const ofB: Turn[] = [
    hands.shell(writeNote('note of B'), { opens: 'B is there', waitsFor: 'A has worked' }),
    hands.shell(`git update-ref -d ${REF}`),
    ...hands.change(world, 'a.txt', { from: 'hello of A', to: 'hello of B' }, {}),
    ...hands.create(world, 'b.txt', 'made by B'),
    hands.shell(commitAll('B')),
    hands.shell(NEXT_COMMAND),
    say('done', { opens: 'B is over' }),
  ];
  const [a, b] = await bothEnded(
    hands.run(world, { turns: ofA }, gates),
    hands.run(world, { turns: ofB }, gates),
  );
  return { world, before: world.before, a, b };
}

describe('the packed tarball in an empty home', () => {
  let installed: Installed;
  beforeAll(() => {
    installed = installPacked();
  });
  afterAll(() => installed.remove());

  it.each([
    ['Claude Code', CLAUDE_HANDS],
    ['Codex', CODEX_HANDS],
    ['Gemini CLI', GEMINI_HANDS],
    ['Copilot CLI', COPILOT_HANDS],
    ['Qwen Code', QWEN_HANDS],
    ['OpenCode', OPENCODE_HANDS],
  ])('%s: install, write, refused clobber, mixed commit refused, uninstall', async (_, hands) => {
    const { world, before, a, b } = await play(await installedWorld(installed.programs, hands), hands);
    const program = await world.output('command -v git-handoff');
    expect(program).toBe(path.join(installed.programs, 'git-handoff'));
    expect(realpathSync(program).startsWith(`${REPOSITORY}/`)).toBe(false);

    const [clobber, removal, ...rest] = b.outputs;
    const [change, , refused] = rest.slice(-4);
    // OpenCode does not tell its model how a command ended.
    if (hands.client !== 'opencode') expect(clobber).toMatch(/exit(?:ed with)? code:? 3\b/i);
    expect(clobber).toContain(short(a.session));
    expect(clobber).toMatch(/hint: .*git handoff write main\/auth-refresh-cont/);
    expect(removal, world.guardLog()).toContain(`would change ${REF}`);
    expect(change, world.guardLog()).toContain(`${short(a.session)} changed it just now`);
    expectRefusal(hands, refused ?? '', a.session, ['a.txt']);

    expect(await world.output(`git log --reverse --format=%s ${REF} | wc -l`)).toMatch(/^\s*2$/);
    expect(await world.output(`git handoff show ${TOPIC}`)).toContain('second note of A');
    // Nothing adds a trailer in Gemini CLI's shell, where git runs no hook.
    const isSigned = hands.client !== 'gemini';
    expect(await historyOf(world), [...a.outputs, ...b.outputs].join('\n')).toMatchObject([
      { paths: ['b.txt'], sessions: [b.session] },
      { paths: ['a.txt'], sessions: isSigned ? [a.session] : [] },
    ]);
    expect(await world.output('git status --porcelain')).toBe('');
    expect(await world.output('cat a.txt b.txt')).toBe('hello of A\nmade by B');

    await world.output('git handoff uninstall --yes');
    expect(stateOf(world, hands)).toEqual(before);
    expect(await world.output(`git rev-parse --verify ${REF}`)).toMatch(/^[0-9a-f]{40}$/);
  });
});
