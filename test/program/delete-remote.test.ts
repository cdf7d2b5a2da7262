import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, SharingWorld } from '../support/sharing-world.ts';

/** `git handoff delete` prints commands that remove the note from servers, too. */

const REF = 'refs/handoffs/main/secret-topic';
let repo: SharingWorld;
let servers: Record<'origin' | 'backup', string>;
let tip: string;

beforeEach(() => {
  repo = new SharingWorld();
  servers = { origin: join(repo.root, 'origin.git'), backup: join(repo.root, 'backup.git') };
  tip = repo.noted(['write', 'secret-topic', '-m', 'zebra-4711-secret'], { session: A });
  for (const [name, path] of Object.entries(servers)) {
    repo.git(['init', '-q', '--bare', path]);
    repo.git(['remote', 'add', name, path]);
    repo.git(['push', '-q', name, REF]);
    repo.git(['fetch', '-q', name, `+refs/handoffs/*:refs/handoffs-remote/${name}/*`]);
  }
});
afterEach(() => repo.remove());

const on = (name: 'origin' | 'backup') =>
  repo.run('git', ['rev-parse', '--verify', '-q', REF], { cwd: servers[name] }).stdout.trim();
const commands = (...words: string[]) =>
  (repo.json(['delete', 'secret-topic', ...words])['remotes'] as { command: string }[]).map(
    ({ command }) => command,
  );

describe('a purge of a note that servers have', () => {
  it('prints for each server the command that removes it there, before and after', () => {
    const before = repo.ok(['delete', 'secret-topic']);
    const printed = [...before.matchAll(/To remove it there: (.*)$/gm)].map(([, command]) => command);
    expect(printed).toEqual(commands('--yes'));
    expect([on('origin'), on('backup')]).toEqual([tip, tip]);
    for (const command of printed) expect(repo.run('sh', ['-c', command ?? ''])).toMatchObject({ status: 0 });
    expect([on('origin'), on('backup')]).toEqual(['', '']);
  });

  it('prints commands that pass our pre-push hook, which refuses a plain deletion', () => {
    const plain = repo.run('git', ['push', 'origin', `:${REF}`]);
    expect(plain.status).not.toBe(0);
    expect(plain.stderr).toContain('error: refs/handoffs/main/secret-topic');
    expect(on('origin')).toBe(tip);
  });

  it('prints no command that could remove a version that nobody was shown', () => {
    const [command = ''] = commands('--yes');
    const next = repo.git(['commit-tree', '-p', tip, '-m', 'newer', `${tip}^{tree}`]);
    const server = command.includes('backup') ? 'backup' : 'origin';
    repo.git(['push', '-q', '--no-verify', server, `${next}:${REF}`]);
    expect(repo.run('sh', ['-c', command]).status).not.toBe(0);
    expect(on(server)).toBe(next);
  });

  it('remembers what a remote still shows, so that no sync brings it back', () => {
    const next = repo.noted(['write', 'secret-topic', '-m', 'not pushed'], { session: A });
    expect(next).not.toBe(tip);
    repo.ok(['delete', 'secret-topic', '--yes']);
    expect(repo.git(['cat-file', 'blob', 'refs/handoffs-local/pruned/main/secret-topic'])).toBe(tip);
    repo.git(['fetch', '-q', 'origin', '+refs/handoffs/*:refs/handoffs-remote/origin/*']);
    expect(repo.json(['list', '--all'])).toMatchObject({ remotes: [{ remote: 'origin', toFetch: 0 }] });
    // Another version of the deleted note counts as new.
    repo.git(['update-ref', 'refs/handoffs-remote/origin/main/secret-topic', next]);
    expect(repo.json(['list', '--all'])).toMatchObject({ remotes: [{ remote: 'origin', toFetch: 1 }] });
    expect(repo.json(['status'])).toMatchObject({ remotes: [{ remote: 'origin', toFetch: 1 }] });
    expect(repo.json(['delete', 'secret-topic', '--yes'])).toMatchObject({ deleted: true });
    expect(repo.git(['cat-file', 'blob', 'refs/handoffs-local/pruned/main/secret-topic'])).toBe(next);
  });
});
