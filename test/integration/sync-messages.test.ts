import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** A sync's report: names that can be typed, and the next command that helps. */

const A = 'aaaaaaaa-1111';
let repo: TestRepository;
let server: string;

beforeEach(() => {
  repo = new TestRepository();
  server = join(repo.root, 'origin.git');
  repo.git(['init', '-q', '--bare', server]);
  repo.git(['remote', 'add', 'origin', server]);
});
afterEach(() => repo.remove());

const write = (topic: string) => repo.noted(['write', topic, '-m', 'x'], { session: A });

describe('what a sync says', () => {
  it('names a branch in full, even if its ref had to be shortened', () => {
    const branch = `feature/${'long-'.repeat(45)}end`;
    repo.git(['branch', branch]);
    write(`${branch}/release-plan`);
    expect(repo.json(['sync'])).toMatchObject({ items: [{ action: 'pushed', branch }] });
    write(`${branch}/release-plan`);
    expect(repo.ok(['sync', '--push'])).toContain(`${branch}/release-plan\n`);
  });

  it('names both ways out if a handoff was deleted on the remote, and both work', () => {
    write('release-plan');
    repo.ok(['sync']);
    const remove = () => repo.git(['update-ref', '-d', 'refs/handoffs/main/release-plan'], { cwd: server });
    remove();
    const said = repo.ok(['sync']);
    const [, back = '', away = ''] = /put it back there: (.*); to remove yours, too: (.*)$/m.exec(said) ?? [];
    expect(back).toBe('git handoff sync --push --restore origin');
    expect(repo.handoff(back.split(' ').slice(2)).stdout).toContain('1 pushed');
    remove();
    expect(repo.handoff([...away.split(' ').slice(2), '--yes', '--take']).status).toBe(0);
    expect(repo.json(['sync'])).toMatchObject({ items: [] });
  });

  it('does not suggest another namespace if the server cannot write', () => {
    write('release-plan');
    const objects = join(server, 'objects');
    repo.run('rm', ['-r', objects]);
    repo.run('mkdir', ['-p', join(objects, 'info'), join(objects, 'pack')]);
    writeFileSync(join(server, 'hooks', 'pre-receive'), '#!/bin/sh\nexit 0\n');
    chmodSync(join(server, 'hooks', 'pre-receive'), 0o755);
    repo.git(['config', 'receive.unpackLimit', '1'], { cwd: server });
    repo.run('rmdir', [join(objects, 'pack')]);
    writeFileSync(join(objects, 'pack'), 'no folder');
    const refused = repo.handoff(['sync', '--push']);
    expect(refused.status).toBe(5);
    expect(refused.stderr).not.toContain('remotePrefix');
    expect(refused.stderr).toContain('hint: git handoff sync --push origin');
  });

  it('advises another namespace only where the server has no handoff in this one', () => {
    const hook = join(server, 'hooks', 'update');
    const only = (pattern: string) => {
      writeFileSync(hook, `#!/bin/sh\ncase $1 in ${pattern}) exit 1 ;; esac\n`);
      chmodSync(hook, 0o755);
    };
    write('release-plan');
    only('refs/handoffs/*');
    expect(repo.handoff(['sync']).stderr).toContain('hint: git config handoff.remotePrefix');
    write('other-plan');
    only('*/release-plan');
    for (const had of ['pushes', 'has']) {
      const { status, stderr } = repo.handoff(['sync']);
      expect(status, had).toBe(5);
      expect(stderr, had).toContain('hint: git ls-remote origin');
    }
  });
});
