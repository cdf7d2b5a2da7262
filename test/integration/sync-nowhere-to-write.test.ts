import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** A fetch into a repository that cannot store objects: the user must repair this side, not the remote. */

let repo: TestRepository;
let clone: string;

beforeEach(() => {
  repo = new TestRepository();
  const server = join(repo.root, 'origin.git');
  clone = join(repo.root, 'clone');
  repo.git(['init', '-q', '--bare', server]);
  repo.git(['remote', 'add', 'origin', server]);
  repo.ok(['write', 'release-plan', '-m', 'x'], { session: 'aaaaaaaa-1111' });
  repo.git(['clone', '-q', server, clone]);
  repo.ok(['sync']);
});
afterEach(() => repo.remove());

describe('a repository that cannot be written to', () => {
  it('is named as the cause of a fetch that fails', () => {
    // There are files where git would make folders, which stops even root.
    const objects = join(clone, '.git', 'objects');
    for (let one = 0; one < 256; one++) {
      const folder = join(objects, one.toString(16).padStart(2, '0'));
      rmSync(folder, { recursive: true, force: true });
      writeFileSync(folder, '');
    }
    const failed = repo.handoff(['sync', '--fetch'], { cwd: clone });
    expect(failed.stderr).not.toContain('could not be asked');
    expect(failed.status).toBe(7);
  });
});
