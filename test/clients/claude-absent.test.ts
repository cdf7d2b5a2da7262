import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy } from '../support/client/expectations.ts';
import { REPOSITORY } from '../support/client/paths.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld, type World } from '../support/client/world.ts';
import { say } from '../support/model/script.ts';

/** A copy of the package as npm would unpack it, so that parts of it can be removed. */
function copyPackage(): string {
  const root = mkdtempSync(path.join(tmpdir(), 'git-handoff-package-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const { files } = JSON.parse(readFileSync(path.join(REPOSITORY, 'package.json'), 'utf8')) as {
    files: string[];
  };
  for (const name of ['package.json', ...files]) {
    const source = path.join(REPOSITORY, name);
    if (existsSync(source)) cpSync(source, path.join(root, 'package', name), { recursive: true });
  }
  return path.join(root, 'package');
}

/** git's hooks say in one line that we are gone; the commit and its message are as usual. */
const COMMITTED =
  /^(?:git-handoff is not at .*|warning: git-handoff could not check this commit; parts of it are missing: .*)\nwork\s*$/;

function handoffFile({ home, repository }: World): string {
  const project = repository.replaceAll(/[^A-Za-z0-9]/g, '-');
  return path.join(home, '.claude', 'projects', project, 'memory', 'handoff-main-auth-refresh.md');
}

describe('a package that is removed after it was installed', () => {
  let root: string;
  let world: World;

  beforeEach(async () => {
    root = copyPackage();
    world = await createInstalledWorld({ packageRoot: root });
  });

  it('worked before that', async () => {
    const file = handoffFile(world);
    const run = await runClaude(world, { turns: [write(file, 'goal\n'), say('done')] });
    expectHealthy(run);
    expect(readFileSync(file, 'utf8')).toContain(run.session);
  });

  it.each([
    ['the whole package', '.'],
    ['its bin folder', 'bin'],
    ['its dist folder', 'dist'],
  ])('is not noticed by the client or by git: %s', async (_, part) => {
    const target = path.resolve(root, part);
    renameSync(target, `${target}.gone`);
    const file = handoffFile(world);
    const run = await runClaude(world, {
      turns: [
        write(file, 'goal\n'),
        bash('echo more >> a.txt && git commit --quiet --all --message=work && git log --format=%B -1'),
        say('done'),
      ],
    });
    expectHealthy(run);
    expect(run.conversation.toolResults()).toMatchObject([
      { tool: 'Write', failed: false },
      { tool: 'Bash', failed: false, output: expect.stringMatching(COMMITTED) as string },
    ]);
    expect(readFileSync(file, 'utf8')).toBe('goal\n');
    expect(run.hooks.map(({ stdout }) => stdout).join('')).toBe('');
    expect(run.stderr).toBe('');
  });
});
