import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, SharingWorld } from '../support/sharing-world.ts';

/** `git handoff purge --remote`: the copy on a server goes, too. */

const REF = 'refs/handoffs/main/secret-topic';
const SECRET = 'zebra-4711-secret';
let repo: SharingWorld;
let servers: Record<'origin' | 'backup', string>;
let tip: string;

beforeEach(() => {
  repo = new SharingWorld();
  servers = { origin: join(repo.root, 'origin.git'), backup: join(repo.root, 'backup.git') };
  tip = repo.ok(['write', 'secret-topic', '-m', SECRET], { session: A });
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
const hook = (name: 'origin' | 'backup', text: string) => {
  writeFileSync(join(servers[name], 'hooks', 'update'), `#!/bin/sh\n${text}\n`);
  chmodSync(join(servers[name], 'hooks', 'update'), 0o755);
};
const purge = (...words: string[]) => repo.handoff(['purge', 'secret-topic', ...words]);

describe('git handoff purge --remote', () => {
  it('tells which remotes would bring the note back', () => {
    expect(repo.json(['purge', 'secret-topic', '--remote', 'origin'])).toMatchObject({
      remotes: [{ remote: 'origin', oid: tip }],
      stillOn: ['backup'],
      purged: false,
    });
    expect(purge().stdout).toContain(
      'backup, origin had it when last asked; to remove it there: ' +
        'git handoff purge main/secret-topic --remote backup --remote origin\n',
    );
    expect([on('origin'), on('backup')]).toEqual([tip, tip]);
  });

  it('removes it here and there, and everywhere only when told so', () => {
    expect(purge('--yes', '--remote', 'origin').status).toBe(0);
    expect([on('origin'), on('backup')]).toEqual(['', tip]);
    const left = repo.refs().filter((ref) => ref.includes('secret-topic'));
    expect(left).toEqual(['refs/handoffs-local/pruned/main/secret-topic']);
    // What is gone here can still be removed there.
    expect(repo.json(['purge', 'secret-topic', '--remote', 'backup', '--yes'])).toMatchObject({
      items: [],
      purged: true,
    });
    expect(on('backup')).toBe('');
    expect(purge('--remote', 'backup').status).toBe(1);
  });

  it('remembers what a remote still shows, so that no sync brings it back', () => {
    const next = repo.ok(['write', 'secret-topic', '-m', 'not pushed'], { session: A });
    expect(next).not.toBe(tip);
    repo.ok(['purge', 'secret-topic', '--yes']);
    expect(repo.git(['cat-file', 'blob', 'refs/handoffs-local/pruned/main/secret-topic'])).toBe(tip);
    repo.git(['fetch', '-q', 'origin', '+refs/handoffs/*:refs/handoffs-remote/origin/*']);
    expect(repo.json(['list', '--all'])).toMatchObject({ remotes: [{ remote: 'origin', toFetch: 0 }] });
    // Another version of it is something new.
    repo.git(['update-ref', 'refs/handoffs-remote/origin/main/secret-topic', next]);
    expect(repo.json(['list', '--all'])).toMatchObject({ remotes: [{ remote: 'origin', toFetch: 1 }] });
    expect(repo.json(['status'])).toMatchObject({ remotes: [{ remote: 'origin', toFetch: 1 }] });
    expect(repo.json(['purge', 'secret-topic', '--yes'])).toMatchObject({ purged: true });
    expect(repo.git(['cat-file', 'blob', 'refs/handoffs-local/pruned/main/secret-topic'])).toBe(next);
  });

  it('is the only way through our own pre-push hook', () => {
    const plain = repo.run('git', ['push', 'origin', `:${REF}`]);
    expect(plain.status).not.toBe(0);
    expect(plain.stderr).toContain('error: refs/handoffs/main/secret-topic');
    expect(on('origin')).toBe(tip);
    expect(purge('--yes', '--remote', 'origin', '--remote', 'backup').status).toBe(0);
    expect([on('origin'), on('backup')]).toEqual(['', '']);
  });

  it('removes nothing here when a server refuses, and says who can remove it there', () => {
    hook('origin', 'echo handoffs are never deleted here >&2; exit 1');
    const refused = purge('--yes', '--remote', 'backup', '--remote', 'origin');
    expect(refused.status).toBe(5);
    expect(refused.stderr).toContain(
      'error: origin keeps main/secret-topic ([remote rejected] (hook declined), remote: handoffs are never deleted here), ' +
        'nothing was removed here; it is removed already on backup\n',
    );
    expect(repo.ref(REF)).toBe(tip);
    const command = /hint: .*repository: (.*)\n/.exec(refused.stderr)?.[1] ?? '';
    expect(repo.run('sh', ['-c', command], { cwd: servers.origin }).status).toBe(0);
    expect(on('origin')).toBe('');
    expect(purge('--yes', '--remote', 'origin').status).toBe(0);
  });

  it('leaves a version alone that nobody was shown', () => {
    // Somebody pushes while the deletion is under way.
    const next = repo.git(['commit-tree', '-p', tip, '-m', 'newer', `${tip}^{tree}`]);
    repo.git(['push', '-q', '--no-verify', 'origin', `${next}:refs/other/next`]);
    const real = repo.run('sh', ['-c', 'command -v git']).stdout.trim();
    const script = `#!/bin/sh
case " $* " in *" push "*) '${real}' -C '${servers.origin}' update-ref ${REF} ${next};; esac
exec '${real}' "$@"
`;
    repo.run('mkdir', [join(repo.root, 'bin')]);
    writeFileSync(join(repo.root, 'bin', 'git'), script);
    chmodSync(join(repo.root, 'bin', 'git'), 0o755);
    const env = { PATH: `${join(repo.root, 'bin')}:${repo.env()['PATH']}` };
    const lost = repo.handoff(['purge', 'secret-topic', '--yes', '--remote', 'origin'], { env });
    expect(lost).toMatchObject({ status: 4, stderr: expect.stringContaining('moved on origin') as string });
    expect([on('origin'), repo.ref(REF)]).toEqual([next, tip]);
  });

  it('leaves a version alone that is written here meanwhile', () => {
    const real = repo.run('sh', ['-c', 'command -v git']).stdout.trim();
    const next = repo.git(['commit-tree', '-p', tip, '-m', 'newer', `${tip}^{tree}`]);
    const script = `#!/bin/sh
case " $* " in *" push "*) '${real}' update-ref ${REF} ${next};; esac
exec '${real}' "$@"
`;
    repo.run('mkdir', [join(repo.root, 'bin')]);
    writeFileSync(join(repo.root, 'bin', 'git'), script);
    chmodSync(join(repo.root, 'bin', 'git'), 0o755);
    const env = { PATH: `${join(repo.root, 'bin')}:${repo.env()['PATH']}` };
    const lost = repo.handoff(['purge', 'secret-topic', '--yes', '--remote', 'origin'], { env });
    expect(lost.status).toBe(4);
    expect(lost.stderr).toContain('main/secret-topic moved meanwhile; it is removed on origin\n');
    expect([on('origin'), repo.ref(REF)]).toEqual(['', next]);
  });

  it('stops where a remote is unknown or cannot be asked', () => {
    expect(purge('--yes', '--remote', 'nowhere')).toMatchObject({ status: 2 });
    expect(purge('--yes', '--remote', servers.origin)).toMatchObject({ status: 2 });
    repo.git(['remote', 'set-url', 'origin', join(repo.root, 'gone.git')]);
    expect(purge('--yes', '--remote', 'origin')).toMatchObject({ status: 5 });
    expect(repo.ref(REF)).toBe(tip);
  });
});
