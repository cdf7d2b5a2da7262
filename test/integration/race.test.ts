import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Oid, RefName } from '../../src/domain/names.ts';
import { updateRefs } from '../../src/git/refs.ts';
import { START, type Run, TestRepository, finished } from '../support/repository.ts';

/** `GIT_HANDOFF_RACE_ROUNDS=50 npx vitest run --project integration race` plays the whole acceptance. */
const ROUNDS = Number(process.env['GIT_HANDOFF_RACE_ROUNDS'] ?? 4);
const WRITERS = 10;
const REF = 'refs/handoffs/main/auth-refresh';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

interface Writer extends Run {
  readonly text: string;
}

/** Starts every writer before it waits for any; each has its own session id and text. */
function race(texts: readonly string[], words: readonly string[], sessionOf = (at: number) => `sess-${at}`) {
  return Promise.all(
    texts.map(async (text, at): Promise<Writer> => {
      const args = [...START, 'write', 'auth-refresh', ...words];
      const child = repo.start(process.execPath, args, { session: sessionOf(at), input: text });
      return { ...(await finished(child)), text };
    }),
  );
}

/** The losers' texts, by the number in the `--lost` command that each loser was told. */
function lostByRef(losers: readonly Writer[]): Map<string, string> {
  return new Map(
    losers.map(({ text, stderr }) => {
      expect(stderr).toMatch(
        /^error: .*; your text is kept, print it with: git handoff show .* --lost=\d+\nhint: git /,
      );
      return [/--lost=(\d+)/.exec(stderr)?.[1] ?? '', text];
    }),
  );
}

const lostText = (number: string) =>
  repo.git(['cat-file', 'blob', `refs/handoffs-local/lost/main/auth-refresh/${number}:handoff.md`]);

describe(`${WRITERS} sessions that write one topic at the same time from the same tip`, () => {
  it(
    `have one winner in each of ${ROUNDS} rounds, and every loser's text is kept`,
    { timeout: Math.max(300_000, ROUNDS * 20_000) },
    async () => {
      let tip = repo.noted(['write', 'auth-refresh', '-m', 'the beginning'], { session: 'sess-0' });
      const lost = new Map<string, string>();
      for (let round = 0; round < ROUNDS; round++) {
        const texts = Array.from({ length: WRITERS }, (_, at) => `round ${round}, writer ${at}\n`);
        const writers = await race(texts, ['--take', '--expect', tip]);
        const winners = writers.filter(({ status }) => status === 0);
        const losers = writers.filter(({ status }) => status !== 0);
        expect(winners).toHaveLength(1);
        expect(losers.filter(({ status }) => status !== 3 && status !== 4)).toEqual([]);
        for (const [number, text] of lostByRef(losers)) lost.set(number, text);
        const [next = '', before] = repo.git(['rev-parse', REF, `${REF}~1`]).split('\n');
        expect(before).toBe(tip);
        expect(winners[0]!.stdout).toContain(next.slice(0, 7));
        expect(repo.git(['cat-file', 'blob', `${REF}:handoff.md`])).toBe(winners[0]!.text.trim());
        tip = next;
      }
      expect(lost.size).toBe(ROUNDS * (WRITERS - 1));
      for (const [number, text] of lost) expect(lostText(number)).toBe(text.trim());
      const [number, text] = [...lost].at(-1)!;
      expect(repo.handoff(['show', 'auth-refresh', `--lost=${number}`]).stdout).toBe(text);
      expect(repo.git(['rev-list', '--count', REF])).toBe(String(ROUNDS + 1));
      expect(repo.ref('refs/handoffs-local/kept/main/auth-refresh')).toBe(tip);
      expect(repo.locks()).toEqual([]);
      expect(repo.handoff(['list']).stderr).toBe('');
    },
  );
});

describe('two sessions that begin one topic at the same time', () => {
  it('have one winner in each of six rounds', async () => {
    for (let round = 0; round < 6; round++) {
      repo.git(['symbolic-ref', 'HEAD', `refs/heads/round-${round}`]);
      const writers = await race(['from 0\n', 'from 1\n'], []);
      const told = writers.map(({ stderr }) => stderr).join('');
      expect(writers.map(({ status }) => status).sort(), told).toEqual([0, 3]);
      const loser = writers.find(({ status }) => status === 3)!;
      expect(repo.ok(['show', 'auth-refresh', '--lost=1'])).toBe(loser.text.trim());
      expect(repo.git(['rev-list', '--count', `refs/handoffs/round-${round}/auth-refresh`])).toBe('1');
    }
    expect(repo.locks()).toEqual([]);
  });
});

describe('one session that writes from several processes at the same time', () => {
  it('finds every text in the chain or kept, and none twice', async () => {
    const texts = Array.from({ length: 6 }, (_, at) => `text ${at}\n`);
    const writers = await race(texts, [], () => 'sess-0');
    const losers = writers.filter(({ status }) => status !== 0);
    expect(losers.filter(({ status }) => status !== 4)).toEqual([]);
    const written = repo
      .git(['rev-list', REF])
      .split('\n')
      .map((commit) => `${repo.git(['cat-file', 'blob', `${commit}:handoff.md`])}\n`);
    const kept = [...lostByRef(losers).keys()].map((number) => `${lostText(number)}\n`);
    expect([...written, ...kept].sort()).toEqual(texts);
    expect(written.length).toBeGreaterThanOrEqual(1);
    expect(repo.locks()).toEqual([]);
  });
});

describe('a ref that has moved since it was read', () => {
  const ref = 'refs/handoffs-local/live/0/a' as RefName;
  let [seen, now] = ['', ''] as unknown as [Oid, Oid];
  beforeEach(() => {
    [seen, now] = ['seen', 'now'].map((input) => repo.git(['hash-object', '-w', '--stdin'], { input })) as [
      Oid,
      Oid,
    ];
    repo.git(['update-ref', ref, now]);
  });
  const update = (next: Oid | undefined, old: Oid | undefined) =>
    updateRefs({ cwd: repo.path }, [{ ref, next, old }]);

  it('is deleted only if it still has the value that was read', async () => {
    expect(await update(undefined, seen)).toEqual({ kind: 'moved' });
    expect(repo.ref(ref)).toBe(now);
    expect(await update(undefined, now)).toEqual({ kind: 'done' });
    expect(repo.ref(ref)).toBeUndefined();
  });

  it('is neither replaced nor created again', async () => {
    expect(await update(seen, seen)).toEqual({ kind: 'moved' });
    expect(await update(seen, undefined)).toEqual({ kind: 'moved' });
    expect(repo.ref(ref)).toBe(now);
  });

  it('accepts no all-zero name, which git would take for "none" or "any value"', async () => {
    const zero = '0'.repeat(40) as Oid;
    await expect(update(zero, now)).rejects.toThrow(TypeError);
    await expect(update(seen, zero)).rejects.toThrow(TypeError);
    expect(repo.ref(ref)).toBe(now);
  });
});
