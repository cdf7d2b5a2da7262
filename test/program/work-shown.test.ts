import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boardOf } from '../support/board.ts';
import { TestRepository } from '../support/repository.ts';

const A = 'aaaaaaaa-1111-4111-8111-111111111111';

let world: TestRepository;
beforeEach(() => {
  world = new TestRepository();
  world.commit('a file', { 'a.txt': 'one\n' });
  writeFileSync(join(world.path, 'a.txt'), 'two\n');
});
afterEach(() => world.remove());

const write = (...more: string[]) =>
  world.handoff(['write', 'auth-refresh', '-m', 'half done', '--with-work', ...more], { session: A });

describe('a note that carries work', () => {
  it('says so when it is written, shown or listed', () => {
    const { stdout, stderr, status } = write();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^left main\/auth-refresh \([0-9a-f]{7}\)\n$/);
    expect(stderr).toContain(
      'the note carries uncommitted work: 1 path, 8 bytes; it stays on this machine until: git handoff sync --push --with-work main/auth-refresh',
    );
    expect(world.ok(['show', 'auth-refresh'])).toContain(
      '\ncarries uncommitted work: 1 path, 8 bytes: git handoff unpack main/auth-refresh\n\nhalf done',
    );
    expect(world.ok(['list'])).toMatch(/^main\/auth-refresh +with work /);
    const work = world.refs('refs/handoffs-local/work')[0]?.split('/').at(-1);
    expect(world.json(['show', 'auth-refresh'])).toMatchObject({ work: { oid: work, paths: 1, bytes: 8 } });
  });

  it('is shown as such even if its size cannot be read, but not if it is closed', () => {
    write();
    const [tip, tree, message] = ['%H', '%T', '%B'].map((format) =>
      world.git(['log', '-1', `--format=${format}`, 'refs/handoffs/main/auth-refresh']),
    );
    const odd = (message ?? '').replace(/Handoff-Work-Size: .*/, 'Handoff-Work-Size: much');
    const next = world.git(['commit-tree', tree ?? '', '-p', tip ?? ''], { input: odd });
    world.git(['update-ref', 'refs/handoffs/main/auth-refresh', next]);
    expect(world.json(['show', 'auth-refresh'])).toMatchObject({ work: { paths: null, bytes: null } });
    expect(world.ok(['show', 'auth-refresh'])).toContain(
      'carries uncommitted work: git handoff unpack main/auth-refresh\n',
    );
    world.ok(['close', 'auth-refresh'], { session: A });
    expect(world.ok(['show', 'auth-refresh'])).not.toContain('carries');
    expect(world.ok(['list', '--all'])).not.toContain('with work');
  });

  it('is shown on the board', () => {
    write();
    expect(boardOf(world).topics[0]?.versions[0]?.work).toBe('uncommitted work: 1 path, 8 bytes');
  });
});
