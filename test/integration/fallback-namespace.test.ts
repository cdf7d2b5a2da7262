import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, SharingWorld } from '../support/sharing-world.ts';

/** A server that accepts only branches and tags: handoffs go to `refs/heads/handoffs/`, and come back from there. */

const REF = 'refs/heads/handoffs/main/release-plan';
const USUAL = 'refs/handoffs/main/release-plan';
let repo: SharingWorld;
let server: string;
let tip: string;

beforeEach(() => {
  repo = new SharingWorld();
  server = join(repo.root, 'origin.git');
  repo.git(['init', '-q', '--bare', '--initial-branch=main', server]);
  repo.git(['remote', 'add', 'origin', server]);
  tip = repo.noted(['write', 'release-plan', '-m', 'x'], { session: A });
});
afterEach(() => repo.remove());

const branchesOnly = () => {
  const hook = join(server, 'hooks', 'pre-receive');
  const script = `#!/bin/sh
while read -r old new ref; do
  case $ref in refs/heads/*) ;; *) echo "only branches: $ref" >&2; exit 1;; esac
done
`;
  writeFileSync(hook, script);
  chmodSync(hook, 0o755);
};
const there = (ref: string) =>
  repo.run('git', ['rev-parse', '--verify', '-q', ref], { cwd: server }).stdout.trim();

/** Types the command of a hint as printed. */
function typeHint(stderr: string) {
  const command = /^hint: (.*)$/m.exec(stderr)?.[1] ?? 'false';
  return repo.run('sh', ['-c', command], { env: { PATH: repo.env()['PATH'] ?? '' } });
}

describe('a server that takes no refs/handoffs', () => {
  it('makes sync say so, with a command that brings the handoffs there', () => {
    branchesOnly();
    const declined = repo.handoff(['sync']);
    expect(declined.status).toBe(5);
    expect(declined.stderr).toContain(`only branches: ${USUAL}`);
    expect(typeHint(declined.stderr).status).toBe(0);
    expect(there(REF)).toBe(tip);
    expect(repo.json(['sync'])).toMatchObject({ items: [], remotes: [{ same: 1 }] });
  });

  it('loses a purged handoff from its place there', () => {
    branchesOnly();
    repo.git(['config', 'handoff.remotePrefix', 'refs/heads/handoffs']);
    repo.ok(['sync']);
    expect(there(REF)).toBe(tip);
    const { remotes } = repo.json(['delete', 'release-plan', '--yes', '--take']);
    const [{ command }] = remotes as [{ command: string }];
    expect(repo.run('sh', ['-c', command])).toMatchObject({ status: 0 });
    expect(there(REF)).toBe('');
    repo.ok(['sync']);
    expect([there(REF), repo.ref(USUAL)]).toEqual(['', undefined]);
  });

  it.each(['x', 'refs/', 'refs/heads', 'refs/tags/', 'refs/handoffs-local', 'refs/a..b/'])(
    'cannot be configured by the invalid prefix %s, with which nothing is sent',
    (prefix) => {
      repo.git(['config', 'handoff.remotePrefix', prefix]);
      const refused = repo.handoff(['sync']);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain('handoff.remotePrefix is not a valid ref prefix');
      expect(repo.git(['for-each-ref', 'refs/handoffs', 'refs/heads/handoffs'], { cwd: server })).toBe('');
    },
  );
});
