import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World } from './install-world.ts';

let world: World;
beforeEach(() => {
  world = new World();
  world.commit('first');
});
afterEach(() => world.remove());

/** The umask, which limits the mode of files that this process makes. */
const UMASK = parseInt(execFileSync('sh', ['-c', 'umask'], { encoding: 'utf8' }), 8);

const hooksFolder = () => join(world.repository, '.git', 'hooks');
const hookPath = (name = 'commit-msg') => join(hooksFolder(), name);

/** Commits, and returns what ran, in order: `shim <hook>`, or whatever the existing hook wrote. */
function commit(message?: string): string[] {
  world.commit(message);
  return ranIn(world.calls());
}

/** The hooks that ran, without our pre-commit's separate call at the beginning of a commit. */
const ranIn = (calls: readonly string[]) =>
  calls
    .filter((line) => !line.startsWith('shim pre-commit 1 begin'))
    .map((line) => line.replace(/^(shim \S+).*/, '$1'));

/** Our shims that run before commit-msg. */
const BEFORE = ['shim pre-commit', 'shim prepare-commit-msg'];
const ALL = [...BEFORE, 'shim commit-msg'];

async function roundTrip(during: () => void | Promise<void>): Promise<void> {
  const before = world.snapshot();
  await world.init();
  const installed = world.snapshot();
  for (let round = 2; round <= 3; round++) {
    expect((await world.init()).outcome).toBe('unchanged');
    expect(world.snapshot()).toEqual(installed);
  }
  await during();
  await world.uninstall();
  const after = world.snapshot();
  const inGit = ([path]: [string, string]) => !/\/(objects|logs|refs|index|COMMIT_EDITMSG)\b/.test(path);
  expect(Object.entries(after).filter(inGit)).toEqual(Object.entries(before).filter(inGit));
}

describe('a repository without hooks', () => {
  it("gets four, which run with git's arguments, and loses them again", () =>
    roundTrip(() => {
      world.commit();
      const [before, prepare, message] = world.calls().map((line) => line.split(' '));
      expect(before?.slice(0, 4)).toEqual(['shim', 'pre-commit', '0', '']);
      expect(prepare?.slice(0, 4)).toEqual(['shim', 'prepare-commit-msg', '2', '.git/COMMIT_EDITMSG']);
      expect(message?.slice(0, 4)).toEqual(['shim', 'commit-msg', '1', '.git/COMMIT_EDITMSG']);
      expect(Number(prepare?.[4])).toBeGreaterThan(1);
      expect([before?.[4], message?.[4]]).toEqual([prepare?.[4], prepare?.[4]]);
      expect(statSync(hookPath()).mode & 0o777).toBe(0o755 & ~UMASK);
    }));

  it('gets the hooks folder, too, if there is none', async () => {
    rmSync(hooksFolder(), { recursive: true });
    await roundTrip(() => expect(commit()).toEqual(ALL));
  });

  it('has commits refused by a shim that refuses', async () => {
    await world.init();
    world.write(join(world.packageRoot, 'git-hooks', 'commit-msg'), '#!/bin/sh\nexit 3\n', 0o755);
    expect(() => world.commit()).toThrow();
  });

  it('commits with one warning line when the package is gone', async () => {
    await world.init();
    rmSync(world.packageRoot, { recursive: true });
    const run = world.shell(`cd '${world.repository}' && git commit -q --allow-empty -m x`);
    expect(run.status).toBe(0);
    expect(run.output.split('\n').slice(0, -1)).toEqual([expect.stringMatching(/^git-handoff is not at /)]);
  });

  it('keeps what a person appended to our hook', async () => {
    await world.init();
    world.write(hookPath(), readFileSync(hookPath(), 'utf8') + 'echo mine >>"$HOME/calls"\n');
    expect((await world.init()).outcome).toBe('unchanged');
    expect(commit()).toEqual([...ALL, 'mine']);
    await world.uninstall();
    expect(readFileSync(hookPath(), 'utf8')).toBe('#!/bin/sh\necho mine >>"$HOME/calls"\n');
    expect(existsSync(hookPath('prepare-commit-msg'))).toBe(false);
    expect(commit()).toEqual(['mine']);
  });
});

/** Existing commit-msg hooks; each leaves `mine`. */
const EXISTING: Record<string, string> = {
  'sh with exit at its end': '#!/bin/sh\necho mine >>"$HOME/calls"\nexit 0\n',
  'sh with exec at its end': '#!/bin/sh\nexec sh -c \'echo mine >>"$HOME/calls"\'\n',
  'sh -eu': '#!/bin/sh -eu\necho mine >>"$HOME/calls"\n',
  bash: '#!/bin/bash\na=(mine); echo "${a[0]}" >>"$HOME/calls"\nexit\n',
  'env bash': '#!/usr/bin/env bash\nset -euo pipefail\n[[ -n $1 ]] && echo mine >>"$HOME/calls"\n',
  'env -S bash': '#!/usr/bin/env -S bash -e\necho mine >>"$HOME/calls"\n',
  'no first line #!': 'echo mine >>"$HOME/calls"\n',
  'no line feed at its end': '#!/bin/sh\necho mine >>"$HOME/calls"',
  'bytes that are not UTF-8': '#!/bin/sh\n: \xff\xfe\necho mine >>"$HOME/calls"\n',
  'a trap': '#!/bin/sh\ntrap \'echo mine >>"$HOME/calls"\' EXIT\nexit 0\n',
  'a message in the block that looks like `$&`': '#!/bin/sh\n: "$&" $1 \'$`\'\necho mine >>"$HOME/calls"\n',
};

describe('an existing hook', () => {
  it.each(Object.entries(EXISTING))('%s: runs first, then ours', async (_, text) => {
    world.write(hookPath(), Buffer.from(text, 'latin1'), 0o751);
    await roundTrip(() => expect(commit()).toEqual([...BEFORE, 'mine', 'shim commit-msg']));
  });

  it('gets its own path, arguments, input and environment, and its status counts', async () => {
    const probe =
      '#!/bin/sh\n{ echo "$0 $# $1"; env | grep -i handoff; ls -l /proc/self/fd/0; } >>"$HOME/calls"\n';
    world.write(hookPath(), `${probe}exit 0\n`, 0o755);
    const inputs = () =>
      world
        .calls()
        .filter((line) => !line.startsWith('shim'))
        .map((line) => line.replace(/.* -> /, ''));
    world.commit();
    const plain = inputs();
    await world.init();
    world.commit();
    expect(inputs()).toEqual(plain);
    world.write(hookPath(), readFileSync(hookPath(), 'utf8').replace('exit 0', 'exit 7'));
    const run = world.shell(`'${hookPath()}' file`);
    expect(run.status).toBe(7);
    expect(world.calls().some((line) => line.startsWith('shim'))).toBe(false);
  });

  it('hands its standard input on', async () => {
    world.write(hookPath(), '#!/bin/sh\ncat >>"$HOME/calls"\n', 0o755);
    await world.init();
    expect(world.shell(`printf 'one\\ntwo\\n' | '${hookPath()}' file`).status).toBe(0);
    expect(world.calls().slice(0, 2)).toEqual(['one', 'two']);
  });

  it('may commit in another repository, and no mark of ours reaches that commit', async () => {
    const other = join(world.root, 'other');
    world.git(['init', '-q', other], world.root);
    world.write(
      hookPath(),
      `#!/bin/sh\nunset $(git rev-parse --local-env-vars)\ngit -C '${other}' commit -q --allow-empty -m inner\n`,
      0o755,
    );
    world.write(join(other, '.git', 'hooks', 'commit-msg'), '#!/bin/sh\necho inner >>"$HOME/calls"\n', 0o755);
    await world.init();
    await world.init({}, other);
    expect(commit()).toEqual([...BEFORE, ...BEFORE, 'inner', 'shim commit-msg', 'shim commit-msg']);
  });

  it('runs alone when the package is gone', async () => {
    world.write(hookPath(), EXISTING['sh with exit at its end'] ?? '', 0o755);
    await world.init();
    rmSync(world.packageRoot, { recursive: true });
    expect(commit()).toEqual(['mine']);
  });

  it('that was edited after init loses our block at uninstall, and keeps the text', async () => {
    world.write(hookPath(), '#!/bin/sh\necho mine\n', 0o755);
    await world.init();
    const edited = readFileSync(hookPath(), 'utf8').replace('echo mine', 'echo other');
    writeFileSync(hookPath(), edited);
    await world.uninstall();
    expect(readFileSync(hookPath(), 'utf8')).toBe('#!/bin/sh\necho other\n');
  });

  it('with a block whose end is missing is left alone, and reported', async () => {
    world.write(hookPath(), '#!/bin/sh\n# >>> git-handoff >>>\necho mine >>"$HOME/calls"\n', 0o755);
    const before = readFileSync(hookPath());
    expect((await world.init()).notices.join()).toContain('the end of our block is missing');
    await world.uninstall();
    expect(readFileSync(hookPath())).toEqual(before);
  });

  it('is updated when the package moved, and restored to the byte', async () => {
    world.write(hookPath(), EXISTING['sh with exec at its end'] ?? '', 0o755);
    const before = world.snapshot();
    await world.init({}, undefined, { packageRoot: '/old/git-handoff' });
    await world.init();
    expect(readFileSync(hookPath(), 'utf8')).not.toContain('/old/');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });
});

describe('without a session at work', () => {
  /** Commits without a session; returns the shims that ran. */
  function shims(env: Record<string, string>, ...more: string[]): string[] {
    const nobody = { GIT_HANDOFF_SESSION: '', ...env };
    world.git(['commit', '-q', '--allow-empty', '-m', 'x', ...more], world.repository, nobody);
    return world.calls().map((line) => line.split(' ')[1] ?? '');
  }
  const inGit = (...names: string[]) => join(world.repository, '.git', ...names);

  it('no shim starts until a session is on record or named', async () => {
    await world.init();
    expect(shims({})).toEqual([]);
    expect(shims({ GIT_EDITOR: 'true' }, '-e')).toEqual([]);
    for (const name of [
      'CLAUDE_CODE_SESSION_ID',
      'CODEX_THREAD_ID',
      'CODEX_SESSION_ID',
      'GEMINI_SESSION_ID',
      'QWEN_CODE_SESSION_ID',
    ]) {
      expect(shims({ [name]: 'x' })).toEqual(['pre-commit', 'prepare-commit-msg']);
    }
    world.write(inGit('handoff', 'beat', 'x'), '');
    expect(shims({})).toEqual(['pre-commit', 'prepare-commit-msg']);
    expect(shims({ GIT_EDITOR: 'true' }, '-e')).toEqual(['pre-commit', 'prepare-commit-msg', 'commit-msg']);
  });

  it('a lone session’s commits start only prepare-commit-msg', async () => {
    await world.init();
    world.write(inGit('handoff', 'beat', 'x'), '');
    world.write(inGit('handoff-solo'), 'x 1 2\n');
    expect(shims({})).toEqual(['prepare-commit-msg']);
    for (const name of ['GIT_HANDOFF_SESSION', 'GEMINI_SESSION_ID']) {
      expect(shims({ [name]: 'x' })).toEqual(['prepare-commit-msg']);
      expect(shims({ [name]: 'x', CODEX_SESSION_ID: 'x' })).toEqual(['prepare-commit-msg']);
      expect(shims({ CODEX_SESSION_ID: 'x', CODEX_THREAD_ID: 'a sub-agent' })).toEqual([
        'prepare-commit-msg',
      ]);
      // Another session, which works elsewhere.
      expect(shims({ [name]: 'y' })).toEqual(['pre-commit', 'prepare-commit-msg']);
      expect(shims({ [name]: 'x', CODEX_SESSION_ID: 'y' })).toEqual(['pre-commit', 'prepare-commit-msg']);
    }
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    world.calls();
    world.commit('there are others in the linked one', linked);
    expect(world.calls()).toHaveLength(3);
  });
});

describe('pre-push', () => {
  const REFS = `refs/heads/a ${'1'.repeat(40)} refs/heads/b ${'0'.repeat(40)}\nHEAD x y z\n`;
  /** A shim that records what it is given. */
  const shim = (status = 0) =>
    world.write(
      join(world.packageRoot, 'git-hooks', 'pre-push'),
      `#!/bin/sh\n{ echo "shim $# $2"; cat; echo .; } >>"$HOME/calls"\nexit ${status}\n`,
      0o755,
    );
  const reading = 'x=$(cat; echo .)\nprintf "mine %s %s" "$#" "$x" >>"$HOME/calls"\necho >>"$HOME/calls"\n';
  const push = (input: string) => {
    world.write(join(world.root, 'refs'), input);
    const run = world.shell(`'${hookPath('pre-push')}' origin 'the url' <'${join(world.root, 'refs')}'`);
    return { ...run, calls: world.calls().join('\n') };
  };

  it('runs ours, and what others append after it gets the refs, too', async () => {
    shim();
    await roundTrip(() => {
      expect(push(REFS)).toEqual({ status: 0, output: '', calls: `shim 2 the url\n${REFS}.` });
      world.write(hookPath('pre-push'), readFileSync(hookPath('pre-push'), 'utf8') + reading);
      expect(push(REFS).calls).toBe(`shim 2 the url\n${REFS}.\nmine 2 ${REFS}.`);
      expect(push('').calls).toContain('mine 2 .');
      shim(3);
      expect(push(REFS)).toMatchObject({ status: 3, calls: `shim 2 the url\n${REFS}.` });
      shim();
      rmSync(hookPath('pre-push'));
    });
  });

  it.each<[string, string]>([
    ['sh', `#!/bin/sh\n${reading}`],
    ['sh -e', `#!/bin/sh -e\n${reading}exit 0\n`],
    ['bash with pipefail', `#!/bin/bash\nset -euo pipefail\n${reading}`],
    ['one that ends by exec', `#!/bin/sh\n${reading}exec true\n`],
  ])('%s: both get the refs to the byte', async (_, text) => {
    shim();
    world.write(hookPath('pre-push'), text, 0o755);
    await roundTrip(() => {
      expect(push(REFS)).toEqual({
        status: 0,
        output: '',
        calls: `mine 2 ${REFS}.\nshim 2 the url\n${REFS}.`,
      });
      expect(push('').calls).toBe('mine 2 .\nshim 2 the url\n.');
    });
  });

  it('works with an existing one that does not read its input, or refuses', async () => {
    shim();
    world.write(hookPath('pre-push'), '#!/bin/bash\nset -o pipefail\necho mine >>"$HOME/calls"\n', 0o755);
    await world.init();
    const many = REFS.repeat(5000);
    expect(push(many)).toEqual({ status: 0, output: '', calls: `mine\nshim 2 the url\n${many}.` });
    world.write(hookPath('pre-push'), `${readFileSync(hookPath('pre-push'), 'utf8')}exit 7\n`);
    expect(push(REFS)).toEqual({ status: 7, output: '', calls: 'mine' });
    rmSync(world.packageRoot, { recursive: true });
    expect(push(REFS)).toEqual({ status: 7, output: '', calls: 'mine' });
  });
});

describe('an installation of an earlier version', () => {
  /** What version 0.1.0 wrote into a hook that it made, and into an existing one. */
  const block = (lines: string[]) =>
    ['# >>> git-handoff >>>', ...lines, '# <<< git-handoff <<<', ''].join('\n');
  const former = (hook: string) => `'${join(world.packageRoot, 'git-hooks', hook)}'`;

  it('is updated in place, and can be removed', async () => {
    const before = world.snapshot();
    await world.init();
    rmSync(hookPath('pre-commit'));
    rmSync(hookPath('pre-push'));
    for (const hook of ['prepare-commit-msg', 'commit-msg']) {
      const lines = [
        '# Made by `git handoff init`, taken out by `git handoff uninstall`. Lines of your own go below.',
        `handoff_shim=${former(hook)}`,
        'if [ -x "$handoff_shim" ]; then',
        '  GIT_HANDOFF_GIT_PID=$PPID "$handoff_shim" "$@" || exit',
        'fi',
      ];
      world.write(hookPath(hook), `#!/bin/sh\n${block(lines)}`, 0o755);
    }
    expect((await world.init()).outcome).toBe('applied');
    expect(commit()).toEqual(ALL);
    expect(readFileSync(hookPath(), 'utf8').match(/>>> git-handoff >>>/g)).toHaveLength(1);
    await world.uninstall();
    const after = Object.entries(world.snapshot()).filter(([path]) => path.includes('/hooks'));
    expect(after).toEqual(Object.entries(before).filter(([path]) => path.includes('/hooks')));
  });
});

describe('a hook that we cannot add to', () => {
  const CASES: Record<string, [reason: string, make: () => void, runs: boolean]> = {
    'a Node script': ['no POSIX shell', () => world.write(hookPath(), mineIn('node'), 0o755), true],
    'a Python script': ['no POSIX shell', () => world.write(hookPath(), mineIn('python3'), 0o755), true],
    'a program': ['no POSIX shell', () => world.write(hookPath(), readFileSync('/bin/true'), 0o755), false],
    'not executable': ['not executable', () => world.write(hookPath(), '#!/bin/sh\nexit 1\n', 0o644), false],
    'a link': ['symbolic link to', () => link('../../hook'), true],
    'a link to nowhere': ['leads nowhere', () => link('../../nowhere'), false],
  };
  const mineIn = (language: 'node' | 'python3') =>
    language === 'node'
      ? "#!/usr/bin/env node\nprocess.getBuiltinModule('fs').appendFileSync(process.env.HOME + '/calls', 'mine\\n');\n"
      : "#!/usr/bin/env python3\nimport os\nopen(os.environ['HOME'] + '/calls', 'a').write('mine\\n')\n";
  const link = (target: string) => {
    world.write(join(world.repository, 'hook'), '#!/bin/sh\necho mine >>"$HOME/calls"\n', 0o755);
    symlinkSync(target, hookPath());
  };

  it.each(Object.entries(CASES))(
    '%s: stays untouched and is reported, and the other hooks are installed',
    async (_, [reason, make, runs]) => {
      make();
      const kept = Object.entries(world.snapshot()).filter(
        ([path]) => path.includes('commit-msg') || path.endsWith('/hook'),
      );
      await roundTrip(async () => {
        expect(world.snapshot()).toMatchObject(
          Object.fromEntries(kept.filter(([path]) => !path.endsWith('prepare-commit-msg'))),
        );
        expect(commit()).toEqual([...BEFORE, ...(runs ? ['mine'] : [])]);
        const { notices } = await world.init();
        expect(notices).toEqual([expect.stringContaining(reason)]);
      });
    },
  );
});

describe('hook managers', () => {
  /** Writes the hooks that husky 9 writes. */
  function installHusky(): void {
    world.write(join(world.repository, '.husky', '_', '.gitignore'), '*');
    world.write(
      join(world.repository, '.husky', '_', 'h'),
      '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nc=$?\nexit $c\n',
      0o755,
    );
    for (const name of ['commit-msg', 'prepare-commit-msg', 'pre-commit']) {
      world.write(
        join(world.repository, '.husky', '_', name),
        '#!/usr/bin/env sh\n. "$(dirname "$0")/h"',
        0o755,
      );
    }
    world.write(join(world.repository, '.husky', 'commit-msg'), 'echo "husky $1" >>"$HOME/calls"\n');
    world.git(['config', 'core.hooksPath', '.husky/_']);
    world.git(['add', '.husky/commit-msg']);
  }

  it('husky: its script runs, then ours; core.hooksPath and git status do not change', async () => {
    installHusky();
    const status = world.git(['status', '--porcelain']);
    await roundTrip(async () => {
      expect(world.git(['status', '--porcelain'])).toBe(status);
      expect(commit()).toEqual([...BEFORE, 'husky .git/COMMIT_EDITMSG', 'shim commit-msg']);
      expect((await world.init()).outcome).toBe('unchanged');
      expect(world.git(['config', 'core.hooksPath'])).toBe('.husky/_\n');
      installHusky();
      expect(commit()).toEqual(['husky .git/COMMIT_EDITMSG']);
      await world.init();
      expect(commit()).toHaveLength(4);
    });
  });

  it('hooks in the working tree are left alone, even from a subfolder', async () => {
    world.write(
      join(world.repository, '.githooks', 'commit-msg'),
      '#!/bin/sh\necho mine >>"$HOME/calls"\n',
      0o755,
    );
    world.git(['add', '.githooks']);
    world.git(['config', 'core.hooksPath', '.githooks']);
    mkdirSync(join(world.repository, 'sub'));
    const before = world.snapshot();
    const { notices } = await world.init({}, join(world.repository, 'sub'));
    expect(notices).toHaveLength(4);
    expect(notices.join()).toContain(`${join(world.repository, '.githooks', 'commit-msg')}: left as it is`);
    expect(notices.join()).toContain('Add this line');
    expect(commit()).toEqual(['mine']);
    await world.uninstall();
    rmSync(join(world.repository, '.git'), { recursive: true });
    expect(Object.keys(world.snapshot())).toEqual(
      Object.keys(before).filter((path) => !path.includes('/.git/') && !path.endsWith('/.git')),
    );
  });

  it('a global core.hooksPath is never touched; the suggested line works', async () => {
    const shared = join(world.home, 'shared hooks');
    world.write(join(shared, 'commit-msg'), '#!/bin/sh\necho mine >>"$HOME/calls"\n', 0o755);
    world.git(['config', '--global', 'core.hooksPath', '~/shared hooks']);
    const before = readFileSync(join(shared, 'commit-msg'), 'utf8');
    const { notices } = await world.init();
    expect(readFileSync(join(shared, 'commit-msg'), 'utf8')).toBe(before);
    expect(existsSync(join(shared, 'prepare-commit-msg'))).toBe(false);
    const line = notices.find((notice) => notice.includes('/commit-msg:'))?.split('to the hook: ')[1] ?? '';
    writeFileSync(join(shared, 'commit-msg'), `${before}${line}\n`);
    expect(commit()).toEqual(['mine', 'shim commit-msg']);
    expect((await world.init()).notices.join()).not.toContain('/commit-msg: left');
  });

  it('pre-commit, installed before and after us', async () => {
    const tool =
      '#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\nHERE="$(cd "$(dirname "$0")" && pwd)"\nif [ -x "$HERE/commit-msg.legacy" ]; then "$HERE/commit-msg.legacy" "$@" || exit; fi\nexec sh -c \'echo pre-commit >>"$HOME/calls"\'\n';
    world.write(hookPath(), tool, 0o755);
    await roundTrip(() => expect(commit()).toEqual([...BEFORE, 'pre-commit', 'shim commit-msg']));

    rmSync(hookPath());
    await world.init();
    renameSync(hookPath(), `${hookPath()}.legacy`);
    world.write(hookPath(), tool, 0o755);
    expect((await world.init()).outcome).toBe('unchanged');
    expect(commit()).toEqual([...ALL, 'pre-commit']);
    await world.uninstall();
    expect(existsSync(`${hookPath()}.legacy`)).toBe(false);
    expect(commit()).toEqual(['pre-commit']);
  });

  it('lefthook, installed before and after us', async () => {
    const tool =
      '#!/bin/sh\ncall_lefthook() { echo "lefthook $*" >>"$HOME/calls"; }\ncall_lefthook run "commit-msg" "$@"\n';
    world.write(hookPath(), tool, 0o755);
    const mine = 'lefthook run commit-msg .git/COMMIT_EDITMSG';
    await roundTrip(() => expect(commit()).toEqual([...BEFORE, mine, 'shim commit-msg']));

    rmSync(hookPath());
    await world.init();
    renameSync(hookPath(), `${hookPath()}.old`);
    world.write(hookPath(), tool, 0o755);
    await world.init();
    expect(commit()).toEqual([...BEFORE, mine, 'shim commit-msg']);
    await world.uninstall();
    expect(existsSync(`${hookPath()}.old`)).toBe(false);
    expect(readFileSync(hookPath(), 'utf8')).toBe(tool);
  });

  it.each(['', '/dev/null'])('core.hooksPath = %j: reported, and nothing is broken', async (value) => {
    world.git(['config', 'core.hooksPath', value]);
    const before = world.snapshot();
    const { outcome, notices } = await world.init();
    expect(outcome).toBe('applied');
    expect(notices.join()).toContain('core.hooksPath');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });
});

describe('linked worktrees', () => {
  it('share the hooks of the common folder', async () => {
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    const before = Object.keys(world.snapshot());
    await world.init({}, linked);
    expect(commit()).toEqual(ALL);
    world.commit('in the linked one', linked);
    expect(world.calls()).toHaveLength(3);
    expect((await world.init()).outcome).toBe('unchanged');
    chmodSync(hookPath(), 0o700);
    await world.uninstall({}, linked);
    expect(
      Object.keys(world.snapshot()).filter(
        (path) => !before.includes(path) && !/\/objects\/|COMMIT_EDITMSG/.test(path),
      ),
    ).toEqual([]);
  });

  it('cause a warning that a relative core.hooksPath differs per worktree', async () => {
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    world.git(['config', 'core.hooksPath', '.husky/_']);
    expect((await world.init({}, linked)).notices.join()).toContain('run init in each of them');
  });
});
