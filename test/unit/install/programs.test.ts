import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lastingName, programsOnPath } from '../../../src/install/programs.ts';

function someFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-notes-programs-')));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe('a git-handoff on PATH', () => {
  function found(makeProgram: (path: string, folder: string) => void): boolean | undefined {
    const folder = someFolder();
    makeProgram(join(folder, 'git-handoff'), folder);
    return programsOnPath({ PATH: folder })[0]?.isOurs;
  }
  const script = (path: string, text: string) => {
    writeFileSync(path, text);
    chmodSync(path, 0o755);
  };

  it("is ours, without being started, if it is the launcher, even through npm's link", () => {
    const launcher = join(import.meta.dirname, '..', '..', '..', 'bin', 'git-handoff');
    expect(programsOnPath({ PATH: dirname(launcher) })).toEqual([{ path: launcher, isOurs: true }]);
    // Without Node on PATH and without its package, the program's `--version` would fail.
    const beginning = `#!/bin/sh\n# git-handoff: starts something\nexit 1\n`;
    expect(found((path) => script(path, beginning))).toBe(true);
  });

  it('is ours if it is a version manager’s script that starts ours', () => {
    expect(found((path) => script(path, '#!/bin/sh\necho git-handoff version 1.0.0\n'))).toBe(true);
    expect(found((path) => script(path, '#!/bin/sh\necho moves branches\n'))).toBe(false);
  });

  it('is ours if it is a link to a compiled program with another name, like the shims of mise', () => {
    expect(found((path) => symlinkSync(process.execPath, path))).toBe(true);
  });

  it('is another program if it is compiled, whichever links lead to it', () => {
    expect(
      found((path, folder) => {
        mkdirSync(join(folder, 'go'));
        script(join(folder, 'go', 'git-handoff-linux-amd64'), '\x7fELF');
        symlinkSync('go/git-handoff-linux-amd64', path);
      }),
    ).toBe(false);
  });
});

describe('the name that outlives an update', () => {
  it.each([
    [
      'Homebrew',
      'brew/Cellar/git-handoff/0.1.0/libexec',
      'brew/opt/git-handoff',
      'brew/opt/git-handoff/libexec',
    ],
    [
      'mise',
      'mise/installs/npm-git-handoff/0.1.0/lib',
      'mise/installs/npm-git-handoff/latest',
      'mise/installs/npm-git-handoff/latest/lib',
    ],
  ])('is the one below the link of %s', (_, real, link, lasting) => {
    const folder = someFolder();
    const [path, current] = [join(folder, real), join(folder, link)];
    mkdirSync(path, { recursive: true });
    mkdirSync(dirname(current), { recursive: true });
    expect(lastingName(path)).toBe(path);
    symlinkSync(dirname(path), current);
    expect(lastingName(path)).toBe(join(folder, lasting));
    rmSync(current);
    mkdirSync(join(folder, lasting), { recursive: true });
    expect(lastingName(path), 'the link leads to another version').toBe(path);
  });
});
