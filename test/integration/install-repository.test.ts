import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/install/changes.ts';
import type { Change } from '../../src/install/changes.ts';
import { planInit } from '../../src/install/plan-init.ts';
import { planUninstall } from '../../src/install/plan-uninstall.ts';
import { World } from './install-world.ts';

let world: World;
beforeEach(() => {
  world = new World();
  world.commit('first');
});
afterEach(() => world.remove());

const configPath = () => join(world.repository, '.git', 'config');
const userSettings = () => join(world.home, '.claude', 'settings.json');

async function planned(): Promise<readonly Change[]> {
  const goal = { clients: ['claude'], scope: 'user' } as const;
  return (await planInit(world.context(), goal)).changes;
}

describe('init', () => {
  it('switches the repository on and tells the launcher which Node to start', async () => {
    const result = await world.init();
    expect(world.git(['config', '--local', 'handoff.enabled'])).toBe('true\n');
    const folder = join(world.repository, '.git', 'handoff');
    for (const path of [folder, join(folder, 'beat')]) expect(statSync(path).mode & 0o777).toBe(0o700);
    const node = join(world.home, '.local', 'state', 'git-handoff', 'node');
    expect(readFileSync(node, 'utf8')).toBe(`${process.execPath}\n`);
    expect(result.changed).toEqual(expect.arrayContaining([userSettings(), configPath(), node]));
    expect(world.git(['status', '--porcelain'])).toBe('');
  });

  it('does nothing on Windows except to name WSL', async () => {
    const before = world.snapshot();
    const refused = world.init({}, undefined, { platform: 'win32' });
    await expect(refused).rejects.toMatchObject({
      code: 'environment',
      message: expect.stringMatching(/^[^.]*\bWSL\b[^.]*$/) as unknown,
    });
    expect(world.snapshot()).toEqual(before);
  });

  it('shows every change before it asks, and changes nothing when the answer is no', async () => {
    world.write(userSettings(), '{\n  "env": {\n    "TOKEN": "s3cret"\n  },\n  "model": "x"\n}\n');
    const before = world.snapshot();
    let shown = '';
    const confirm = (plan: string): Promise<boolean> => {
      shown = plan;
      return Promise.resolve(false);
    };
    const result = await world.init({ yes: false }, undefined, { confirm });
    expect(result).toMatchObject({ outcome: 'declined', changed: [] });
    expect(world.snapshot()).toEqual(before);
    expect(shown.split('\n').length).toBeLessThanOrEqual(14);
    const [head, ...lines] = shown.split('\n').map((line) => line.trim().replace(/ {2,}/g, ': '));
    expect(head).toBe(`git handoff init will change, in ${world.repository}:`);
    expect(lines).toEqual([
      '.git/config: handoff.enabled = true',
      '~/.claude/settings.json: Claude Code asks the guard about tool calls',
      ".git/hooks/pre-commit: refuses other sessions' work in a commit",
      '.git/hooks/prepare-commit-msg, commit-msg: name the session in the commit',
      '.git/hooks/pre-push: refuses to push commits that mix sessions',
      '.git/handoff/, ~/.local/state/git-handoff/: our records',
      'Your own hooks and settings stay. Nothing leaves this machine.',
      'Every line: git handoff init --diff --client claude: Undo: git handoff uninstall',
    ]);
  });

  it.each([
    ['a plain uninstall', {}, false, ', and so do the notes. Undo: git handoff init', ''],
    ['a purge without notes', { purge: { now: 0 } }, false, '. Undo: git handoff init', ' --purge'],
    [
      'a purge of notes',
      { purge: { now: 0 } },
      true,
      '. At the end you get the command that brings the notes back.',
      ' --purge',
    ],
  ])('names the undo before %s', async (_, options, hasNotes, undo, words) => {
    await world.init();
    if (hasNotes) world.git(['update-ref', 'refs/handoffs/main/auth-refresh', 'HEAD']);
    let shown = '';
    const confirm = (question: string): Promise<boolean> => {
      shown = question;
      return Promise.resolve(false);
    };
    await world.uninstall({ ...options, yes: false }, undefined, { confirm });
    expect(shown.split('\n').slice(-2)).toEqual([
      `Your own hooks and settings stay${undo}`,
      `To see every line: git handoff uninstall --diff${words}`,
    ]);
  });

  it('shows every line, and changes nothing, when asked for the difference', async () => {
    world.write(userSettings(), '{\n  "env": {\n    "TOKEN": "s3cret"\n  },\n  "model": "x"\n}\n');
    const before = world.snapshot();
    const { outcome, plan } = await world.init({ yes: false, diff: true });
    expect(outcome).toBe('planned');
    expect(world.snapshot()).toEqual(before);
    expect(plan).toContain(`+++ ${userSettings()}\n@@ -5,1 +5,`);
    expect(plan).toMatch(/^\+\tenabled = true$/m);
    expect(plan).toMatch(/^\+# >>> git-handoff >>>$/m);
    expect(plan).not.toContain('s3cret');
    await world.init();
    const installed = world.snapshot();
    const undo = await world.uninstall({ diff: true });
    expect(undo.outcome).toBe('planned');
    expect(undo.plan).toContain(`--- ${userSettings()}\n`);
    expect(undo.summary).toMatch(/^ {2}~\/\.claude\/settings\.json +without our hooks$/m);
    expect(world.snapshot()).toEqual(installed);
  });

  it('does not say that its lines go where shorter ones replace those of an earlier version', async () => {
    await world.init();
    const hook = join(world.repository, '.git', 'hooks', 'pre-commit');
    const end = '# <<< git-handoff <<<';
    world.write(hook, readFileSync(hook, 'utf8').replace(end, `# a line of an earlier version\n${end}`));
    const { summary } = await world.init({ yes: false, diff: true });
    expect(summary).toContain('refuses other sessions');
    expect(summary).not.toContain('without our');
  });

  it('says in at most fifteen lines what it will change for every client, with instructions and skills', async () => {
    for (const name of ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md'])
      world.write(join(world.repository, name), '# x\n');
    let shown = '';
    const confirm = (question: string): Promise<boolean> => {
      shown = `${question}\nApply? [y/N] `;
      return Promise.resolve(false);
    };
    const clients = ['claude', 'codex', 'gemini', 'cursor', 'copilot'];
    world.write(join(world.packageRoot, 'skills', 'git-handoff', 'SKILL.md'), 'a skill\n');
    await world.init({ yes: false, clients, instructions: true, skill: true }, undefined, { confirm });
    const lines = shown.split('\n');
    expect(lines.length).toBeLessThanOrEqual(15);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}… and \d+ more lines$/));
    expect(shown).toContain(
      'git handoff init --diff --client claude,codex,gemini,cursor,copilot --instructions --skill ',
    );
  });

  it('needs a terminal or --yes', async () => {
    const before = world.snapshot();
    await expect(world.init({ yes: false })).rejects.toMatchObject({
      code: 'usage',
      hint: 'git handoff init --yes --client claude',
    });
    expect(world.snapshot()).toEqual(before);
    await world.init();
    expect((await world.init({ yes: false })).outcome).toBe('unchanged');
  });

  it('refuses a folder that is no repository, and an unknown client', async () => {
    await expect(world.init({}, world.home)).rejects.toMatchObject({ code: 'environment' });
    await expect(world.init({ clients: ['x'] })).rejects.toMatchObject({ code: 'usage' });
  });

  it('escapes what a path could do to a terminal', async () => {
    world.remove();
    world = new World('a\u001b[31m\u202eb');
    const { plan } = await world.init();
    expect(plan).toContain('\\u{1b}[31m\\u{202e}b');
    expect(plan).not.toContain('\u001b');
  });
});

describe('the config file', () => {
  const HEAD = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';
  it.each([
    HEAD,
    `${HEAD}; a comment at the end`,
    `${HEAD}[handoff]\n\tenabled = false ; for now\n`,
    `${HEAD}[handoff]\n\tenabled = false\n\tenabled = false\n\tmarker = handshake\n`,
    `${HEAD}[handoff]\n\tenabled\n`,
    HEAD.replaceAll('\n', '\r\n'),
  ])('%j comes back to the byte', async (text) => {
    writeFileSync(configPath(), text);
    const before = world.snapshot();
    await world.init();
    expect(world.git(['config', '--bool', 'handoff.enabled'])).toBe('true\n');
    expect((await world.init()).outcome).toBe('unchanged');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('edited since: the key gets its old value back', async () => {
    world.git(['config', 'handoff.enabled', 'false']);
    await world.init();
    world.git(['config', 'user.name', 'somebody']);
    await world.uninstall();
    expect(world.git(['config', '--get-all', 'handoff.enabled'])).toBe('false\n');
    expect(world.git(['config', 'user.name'])).toBe('somebody\n');
  });

  it('edited since: a key that was not there is removed', async () => {
    await world.init();
    world.git(['config', 'user.name', 'somebody']);
    await world.uninstall();
    expect(readFileSync(configPath(), 'utf8')).not.toContain('handoff');
  });

  it('locked by git: exit 7, nothing changed', async () => {
    world.write(`${configPath()}.lock`, '');
    const before = world.snapshot();
    await expect(world.init()).rejects.toMatchObject({ code: 'environment' });
    expect(world.snapshot()).toEqual(before);
  });
});

describe('several repositories', () => {
  it("keep the hooks in the user's settings until the last one uninstalls", async () => {
    const second = join(world.root, 'second');
    world.git(['init', '-q', second], world.root);
    const before = world.snapshot();
    await world.init();
    const installed = readFileSync(userSettings(), 'utf8');
    await world.init({}, second);
    expect(readFileSync(userSettings(), 'utf8')).toBe(installed);

    const { notices } = await world.uninstall();
    expect(notices.join()).toContain(`other repositories use them (${second})`);
    expect(readFileSync(userSettings(), 'utf8')).toBe(installed);
    await world.uninstall({}, second);
    expect(world.snapshot()).toEqual(before);
  });

  it('do not keep the hooks if one was deleted', async () => {
    const second = join(world.root, 'second');
    world.git(['init', '-q', second], world.root);
    await world.init({}, second);
    await world.init();
    rmSync(second, { recursive: true });
    await world.uninstall();
    expect(existsSync(userSettings())).toBe(false);
  });

  it("--user removes the user's part anyway, from anywhere", async () => {
    await world.init();
    await world.uninstall({ user: true }, world.root);
    expect(existsSync(join(world.home, '.claude'))).toBe(false);
    expect(existsSync(join(world.home, '.local'))).toBe(false);
    expect(world.git(['config', 'handoff.enabled'])).toBe('true\n');
  });

  it('are both known if set up at the same time', async () => {
    const second = join(world.root, 'second');
    world.git(['init', '-q', second], world.root);
    mkdirSync(join(world.home, '.local', 'state'), { recursive: true });
    mkdirSync(join(world.home, '.claude'), { recursive: true });
    const before = world.snapshot();
    await Promise.all([world.init(), world.init({}, second)]);
    expect((await world.uninstall()).notices.join()).toContain('other repositories use them');
    await world.uninstall({}, second);
    expect(world.snapshot()).toEqual(before);
  });
});

describe('kinds of repositories', () => {
  const clean = async (cwd: string) => {
    const before = world.snapshot();
    await world.init({}, cwd);
    expect(world.git(['config', 'handoff.enabled'], cwd)).toBe('true\n');
    expect((await world.init({}, cwd)).outcome).toBe('unchanged');
    await world.uninstall({}, cwd);
    expect(world.snapshot()).toEqual(before);
  };

  it('bare', async () => {
    const bare = join(world.root, 'bare.git');
    world.git(['init', '-q', '--bare', bare], world.root);
    await clean(bare);
  });

  it('sha256', async () => {
    const other = join(world.root, 'sha256');
    world.git(['init', '-q', '--object-format=sha256', other], world.root);
    await clean(other);
  });

  it('a submodule has a git folder of its own', async () => {
    const source = join(world.root, 'source');
    world.git(['init', '-q', source], world.root);
    world.commit('x', source);
    world.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'sub']);
    const sub = join(world.repository, 'sub');
    await clean(sub);
    await world.init({}, sub);
    expect(existsSync(join(world.repository, '.git', 'modules', 'sub', 'handoff'))).toBe(true);
    expect(existsSync(join(world.repository, '.git', 'handoff'))).toBe(false);
  });

  it.each(['with blanks', 'it\'s "quoted" $x', 'line\nfeed', 'ends in a line feed\n', '--yes'])(
    'in a folder named %j',
    async (name) => {
      world.remove();
      world = new World(name);
      await clean(world.repository);
      await world.init();
      world.commit();
      expect(world.calls().filter((line) => line.startsWith('shim'))).toHaveLength(3);
    },
  );

  it('with a linked worktree: what the guard left in both git folders is removed', async () => {
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    const before = world.snapshot();
    await world.init({}, linked);
    const gitDirs = [join(world.repository, '.git'), join(world.repository, '.git', 'worktrees', 'linked')];
    for (const dir of gitDirs)
      for (const name of ['handoff-id', 'handoff-solo']) world.write(join(dir, name), 'x\n');
    world.write(join(world.repository, '.git', 'handoff', 'beat', 'session'), '');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });
});

describe('when it cannot be done', () => {
  it.each([
    ['the settings folder is a file', () => world.write(join(world.home, '.claude'), '')],
    ['the state folder is a file', () => world.write(join(world.home, '.local'), '')],
    [
      'info.json is a folder',
      () => mkdirSync(join(world.repository, '.git', 'handoff', 'install.json'), { recursive: true }),
    ],
  ])('%s: exit 7, nothing changed', async (_, breakIt) => {
    breakIt();
    const before = world.snapshot();
    await expect(world.init()).rejects.toMatchObject({ code: 'environment' });
    expect(world.snapshot()).toEqual(before);
  });

  it.skipIf(process.getuid?.() === 0)('a read-only git folder: exit 7, nothing changed', async () => {
    const folder = join(world.repository, '.git');
    chmodSync(folder, 0o555);
    const before = world.snapshot();
    await expect(world.init()).rejects.toMatchObject({ code: 'environment' });
    expect(world.snapshot()).toEqual(before);
    chmodSync(folder, 0o755);
  });

  it('a failed step undoes the earlier ones', async () => {
    const before = world.snapshot();
    const changes = await planned();
    const last = changes.at(-1);
    const broken: Change[] = [
      ...changes,
      {
        kind: 'file',
        role: 'settings',
        path: `${last?.path ?? ''}/below-a-file`,
        before: undefined,
        after: Buffer.from('x'),
        mode: 0o644,
      },
    ];
    await expect(applyChanges(broken)).rejects.toMatchObject({ code: 'environment' });
    expect(world.snapshot()).toEqual(before);
  });

  it('a file that somebody changed between plan and change: exit 7, their text stays', async () => {
    const changes = await planned();
    world.write(userSettings(), '{"theirs": true}');
    await expect(applyChanges(changes)).rejects.toMatchObject({
      code: 'environment',
      hint: 'run the command again',
    });
    expect(readFileSync(userSettings(), 'utf8')).toBe('{"theirs": true}');
    expect(existsSync(join(world.repository, '.git', 'handoff'))).toBe(false);
  });

  it('a damaged receipt: exit 6, nothing guessed', async () => {
    await world.init();
    world.write(join(world.repository, '.git', 'handoff', 'install.json'), '{ "v": 1');
    const before = world.snapshot();
    await expect(world.uninstall()).rejects.toMatchObject({ code: 'integrity' });
    await expect(world.init()).rejects.toMatchObject({ code: 'integrity' });
    expect(world.snapshot()).toEqual(before);
  });

  it.each([
    ['a hook', () => join(world.repository, '.git', 'hooks', 'pre-commit')],
    ['the folder of the hooks', () => join(world.repository, '.git', 'hooks')],
    ["a client's settings", userSettings],
    ['what a session left', () => join(world.repository, '.git', 'handoff-solo')],
  ])(
    'takes back all the rest when a folder, a file or a circle is in the place of %s',
    async (_what, place) => {
      const clean = readFileSync(configPath(), 'utf8');
      const others = {
        'a folder': () => mkdirSync(place()),
        'a file': () => writeFileSync(place(), ''),
        'a circle': () => symlinkSync(place(), place()),
      };
      for (const [what, put] of Object.entries(others)) {
        await world.init();
        rmSync(place(), { recursive: true, force: true });
        put();
        expect((await world.uninstall()).outcome, what).toBe('applied');
        expect(readFileSync(configPath(), 'utf8'), what).toBe(clean);
        expect(existsSync(join(world.repository, '.git', 'handoff')), what).toBe(false);
        rmSync(place(), { recursive: true, force: true });
      }
    },
  );

  it('a hook that is a folder: uninstall takes back what init did', async () => {
    mkdirSync(join(world.repository, '.git', 'hooks', 'pre-commit'), { recursive: true });
    const before = world.snapshot();
    expect((await world.init()).notices.join()).toContain('because it is not a file');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('a lost receipt: our parts are found and removed', async () => {
    world.write(userSettings(), '{\n  "model": "x"\n}\n');
    const before = readFileSync(userSettings(), 'utf8');
    await world.init();
    rmSync(join(world.repository, '.git', 'handoff'), { recursive: true });
    rmSync(join(world.home, '.local'), { recursive: true });
    await world.uninstall();
    expect(readFileSync(userSettings(), 'utf8')).toBe(before);
    expect(readFileSync(configPath(), 'utf8')).not.toContain('handoff');
    world.commit();
    expect(world.calls()).toEqual([]);
  });
});

describe('interrupted after any step', () => {
  it('init can be uninstalled to the byte, or run again', async () => {
    world.write(userSettings(), '{\n  "model": "x"\n}\n');
    world.write(join(world.repository, '.git', 'hooks', 'commit-msg'), '#!/bin/sh\nexit 0\n', 0o755);
    mkdirSync(join(world.home, '.local', 'state'), { recursive: true });
    const before = world.snapshot();
    const steps = (await planned()).length;
    expect(steps).toBeGreaterThan(8);
    for (let done = 0; done <= steps; done++) {
      await applyChanges((await planned()).slice(0, done));
      if (done % 2 === 0) await world.init();
      await world.uninstall();
      expect(world.snapshot()).toEqual(before);
    }
  });

  it('uninstall can be run again', async () => {
    world.write(userSettings(), '{\n  "model": "x"\n}\n');
    // If init had to create this folder, it would record that, and uninstall would remove the record last.
    mkdirSync(join(world.home, '.local', 'state'), { recursive: true });
    const before = world.snapshot();
    for (let done = 0, steps = 1; done < steps; done++) {
      await world.init();
      const { changes } = await planUninstall(world.context(), false);
      steps = changes.length;
      await applyChanges(changes.slice(0, done));
      await world.uninstall();
      expect(world.snapshot()).toEqual(before);
    }
  });
});
