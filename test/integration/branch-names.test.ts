import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileNames } from '../support/hostile-cases.ts';
import { TestRepository } from '../support/repository.ts';

const session = 'aaaaaaaa-1111';
const OTHER = 'bbbbbbbb-2222';
let repo: TestRepository;
beforeAll(() => {
  repo = new TestRepository();
});
afterAll(() => repo.remove());

const LONG = 'x'.repeat(220);
/** test/unit/namespace.test.ts tests all names of the corpus, this test a third of them. */
const NAMES = [
  ...hostileNames('branch')
    .flatMap(({ value, expect: outcome }) => (outcome.startsWith('accept') ? [value] : []))
    .filter((_, n) => n % 3 === 0),
  'feature/x/y',
  '100%',
  'a%2Fb',
  'a/b',
  "it's",
  'say"hi"',
  '$HOME',
  '$(id)',
  'naïve/漢字/😀',
  'semi;colon',
  'a./b',
  `${LONG.slice(0, 150)}/${LONG}`,
  `${LONG.slice(0, 150)}/${LONG.slice(1)}y`,
];
/** git cannot have the branches `feature` and `feature/x` at once. Notes outlive branches, so there can be notes of both. */
const BRANCHES = [...new Set(NAMES)].filter((name) => name !== 'HEAD');

describe('a note of a branch with an odd name', () => {
  it.each(BRANCHES)('%j: the note is written, listed and shown by the name that people type', (branch) => {
    repo.git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
    const oid = repo.noted(['write', 'odd-name', '-m', `about ${branch}`], { session });
    expect(repo.json(['show', `${branch}/odd-name`], { session })).toMatchObject({
      branch,
      oid,
      note: `about ${branch}\n`,
    });
    expect(repo.json(['list'], { session }).items[0]).toMatchObject({ branch, oid });
    const refused = repo.handoff(['write', 'odd-name', '-m', 'x'], { session: OTHER });
    const hint = /^hint: (git handoff take .*)$/m.exec(refused.stderr)?.[1] ?? '';
    expect(repo.run('bash', ['-c', hint], { session: OTHER }).status, hint).toBe(0);
    expect(repo.json(['show'], { session })).toMatchObject({ branch, owner: OTHER });
  });

  it('exists beside all the others', () => {
    const listed = repo.json(['list'], { session }).items.map((item) => item['branch']);
    expect(new Set(listed)).toEqual(new Set(BRANCHES));
    expect(repo.refs('refs/handoffs')).toHaveLength(BRANCHES.length);
  });

  it('is escaped on a terminal', () => {
    expect(repo.ok(['list'], { session })).not.toMatch(/[^\P{Cc}\n]|[\u200b-\u200f\u202a-\u202e]/u);
  });

  it('survives gc, packing and fsck', () => {
    repo.git(['symbolic-ref', 'HEAD', 'refs/heads/main']);
    const before = repo.git(['for-each-ref', 'refs/handoffs']);
    repo.git(['gc', '-q', '--prune=now']);
    expect(repo.git(['for-each-ref', 'refs/handoffs'])).toBe(before);
    expect(repo.json(['list'], { session }).items).toHaveLength(BRANCHES.length);
    repo.git(['symbolic-ref', 'HEAD', 'refs/heads/feature/x/y']);
    const oid = repo.noted(['write', 'odd-name', '-m', 'packed'], { session: OTHER });
    expect(repo.json(['show', 'odd-name'], { session })).toMatchObject({ oid, note: 'packed\n' });
  });
});

describe('refused names create no ref', () => {
  const rejected = [...hostileNames('topic'), ...hostileNames('branch'), ...hostileNames('session_id')]
    .filter((one) => one.expect === 'reject' && !one.value.includes('\u0000'))
    .filter((_, n) => n % 4 === 0);

  it.each(rejected)('$id $kind: $why', ({ kind, value }) => {
    const before = repo.git(['for-each-ref']);
    const words = {
      topic: ['write', '-m', 'x', '--', value],
      branch: ['write', '-m', 'x', '--', `${value}/auth-refresh`],
      session_id: ['write', 'auth-refresh', '-m', 'x', `--session=${value}`],
    }[kind];
    const { status, stdout, stderr } = repo.handoff(words);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .*\nhint: .*\n$/);
    expect(stderr).not.toMatch(/[^\P{Cc}\n]|[\u200b-\u200f\u202a-\u202e]/u);
    expect(repo.git(['for-each-ref'])).toBe(before);
  });
});
