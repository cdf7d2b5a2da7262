import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BranchName, Oid, SessionId, Topic } from '../../src/domain/names.ts';
import { handoffPath } from '../../src/git/namespace.ts';
import { openRepository } from '../../src/git/repository.ts';
import { commitHandoff } from '../../src/notes/handoffs.ts';
import { readTopic } from '../../src/notes/topic.ts';
import { TestRepository } from '../support/repository.ts';

const REF = 'refs/handoffs/main/auth-refresh';
const KEPT = 'refs/handoffs-local/kept/main/auth-refresh';
let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

/** A write that reads the topic before `between` runs, and swaps the refs after it. */
async function writeAround(between: () => void, expected: string) {
  const repository = await openRepository(repo.path);
  const path = handoffPath('main' as BranchName, 'auth-refresh' as Topic);
  const read = readTopic(repository, path);
  await read;
  between();
  const intent = { me: 'sess-a' as SessionId, succeeded: [], take: false, expect: expected as Oid };
  const recorded = (await read).tip?.recorded;
  if (recorded === undefined) throw new Error('no handoff to write on');
  const author = { name: 'A', email: 'a@example.com' };
  const content = {
    note: Buffer.from('next'),
    recorded,
    seconds: 1_700_000_000,
    author,
    state: 'open',
  } as never;
  return commitHandoff(repository, path, intent, content, { read });
}

it('a write that expects the tip succeeds even if somebody repairs `kept` meanwhile', async () => {
  const first = repo.noted(['write', 'auth-refresh', '-m', 'one'], { session: 'sess-a' });
  const tip = repo.noted(['write', 'auth-refresh', '-m', 'two'], { session: 'sess-a' });
  // What a writer leaves that was killed between the two refs of its transaction.
  repo.git(['update-ref', KEPT, first]);
  const result = await writeAround(() => repo.git(['update-ref', KEPT, tip]), tip);
  expect(result.kind).toBe('written');
  expect(repo.git(['rev-parse', `${REF}~1`])).toBe(tip);
});

it('a write that expects the tip is refused if the tip itself has moved', async () => {
  const tip = repo.noted(['write', 'auth-refresh', '-m', 'one'], { session: 'sess-a' });
  const result = await writeAround(() => {
    repo.ok(['write', 'auth-refresh', '-m', 'two'], { session: 'sess-a' });
  }, tip);
  expect(result.kind).toBe('expectation-missed');
});

it.each(['close', 'reopen', 'take'])('a %s that expects no handoff is refused where there is one', (verb) => {
  const tip = repo.noted(['write', 'auth-refresh', '-m', 'one'], { session: 'sess-a' });
  const { status, stderr } = repo.handoff([verb, 'auth-refresh', '--expect', 'none'], { session: 'sess-a' });
  expect(status).toBe(4);
  expect(stderr).toContain(`is not at the expected commit: it is at ${tip}`);
  expect(repo.git(['rev-parse', REF])).toBe(tip);
});
