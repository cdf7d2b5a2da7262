import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

const SESSION = 'aaaaaaaa-1111';
let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['init', '--yes']);
});
afterEach(() => repo.remove());

/** Puts a script before git on PATH: these lines, then the real git, which is `$real`. */
function before(lines: string): Record<string, string> {
  const folder = join(repo.root, 'first');
  const path = repo.env()['PATH'] ?? '';
  mkdirSync(folder);
  const script = `#!/bin/sh\nreal() { PATH='${path}' git "$@"; }\n${lines}\nPATH='${path}' exec git "$@"\n`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  return { PATH: `${folder}:${path}` };
}

it('a note is reported as written even if git could not move the second ref', () => {
  const env = before(`case " $* " in *' update-ref '*--stdin*)
  tip=$(grep ' refs/handoffs/' | grep -m1 'create\\|update')
  set -- $tip
  real update-ref "$2" "$3"
  echo "fatal: cannot lock ref 'refs/handoffs-local/kept/main/release-plan': unable to rename: No space left on device" >&2
  exit 128 ;;
esac`);
  const run = repo.handoff(['write', 'release-plan', '-m', 'the plan'], { session: SESSION, env });
  expect({ ...run, bytes: undefined }).toMatchObject({ status: 0 });
  expect(run.stderr).not.toContain('your text is kept');
  expect(repo.ok(['show', 'release-plan'])).toContain('the plan');
  repo.ok(['write', 'release-plan', '-m', 'the next plan'], { session: SESSION });
  expect(repo.ok(['show', 'release-plan'])).toContain('the next plan');
});

/** Empties a ref's file, as a crash of the machine does before the content is on the disk. */
function emptied(ref: string): void {
  writeFileSync(join(repo.path, '.git', ref), '');
}

it.each(['refs/handoffs/main/release-plan', 'refs/handoffs-local/kept/main/release-plan'])(
  'a note is written again although a crash emptied %s',
  (ref) => {
    repo.ok(['write', 'release-plan', '-m', 'the plan'], { session: SESSION });
    emptied(ref);
    expect(repo.ok(['show', 'release-plan'])).toContain('the plan');
    repo.noted(['write', 'release-plan', '-m', 'the next plan'], { session: SESSION });
    expect(repo.ok(['show', 'release-plan'])).toContain('the next plan');
    expect(repo.handoff(['doctor']).status).toBe(0);
  },
);

it('doctor names each ref that a crash emptied, and puts it back: git fetches and the purge goes through again', () => {
  repo.ok(['write', 'release-plan', '-m', 'the plan'], { session: SESSION });
  repo.ok(['write', 'other-plan', '-m', 'another'], { session: SESSION });
  const refs = ['refs/handoffs/main/release-plan', 'refs/handoffs-local/kept/main/other-plan'];
  for (const ref of refs) emptied(ref);
  expect(() => repo.git(['fetch', '-q', '.'])).toThrow();
  const told = repo.handoff(['doctor']);
  expect(told.status).toBe(1);
  for (const ref of refs) expect(told.stdout).toContain(`${ref} has no value`);
  repo.ok(['doctor', '--fix']);
  repo.git(['fetch', '-q', '.']);
  expect(repo.ok(['show', 'release-plan'])).toContain('the plan');
  expect(repo.ok(['doctor'])).toContain('2 handoffs, none moved by hand');
  repo.ok(['uninstall', '--purge', '--yes']);
});

it.each([
  ['waits for the other', 1, 0],
  ['says that it is this clone’s, when that does not end', 99, 4],
])('a fetch beside another one in the same clone %s', (_, times, status) => {
  const server = join(repo.root, 'origin.git');
  repo.git(['init', '-q', '--bare', server]);
  repo.git(['remote', 'add', 'origin', server]);
  repo.ok(['write', 'release-plan', '-m', 'the plan'], { session: SESSION });
  repo.git(['clone', '-q', server, join(repo.root, 'clone')]);
  repo.ok(['sync']);
  const count = join(repo.root, 'count');
  const env = before(`case " $* " in *' fetch '*)
  echo x >>'${count}'
  if [ $(wc -l <'${count}') -le ${times} ]; then
    echo "error: cannot lock ref 'refs/handoffs-remote/origin/main/release-plan': is at 1 but expected 2" >&2
    exit 1
  fi ;;
esac`);
  const run = repo.handoff(['sync', '--fetch'], { env, cwd: join(repo.root, 'clone') });
  expect({ ...run, bytes: undefined }).toMatchObject({ status });
  expect(run.stderr).not.toContain('could not be asked');
});
