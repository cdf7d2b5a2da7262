import type {
  Board,
  BoardCommit,
  BoardRefusal,
  BoardSession,
  BoardStep,
  BoardTopic,
} from '../../src/ui/board/shape.ts';

export interface SampleSize {
  readonly sessions: number;
  readonly handoffs: number;
}

const MINUTE = 60_000;
/** 2026-11-20 17:30 UTC. */
const NOW = Date.UTC(2026, 10, 20, 17, 30);

const CLIENTS = ['claude', 'codex', 'gemini', 'claude'];
const BRANCHES = ['main', 'feat/search-index', 'fix/login-timeout', 'feat/billing-export', 'chore/ci-cache'];
const TOPICS = [
  'auth-refresh',
  'search-ranking',
  'login-timeout',
  'invoice-export',
  'cache-keys',
  'schema-move',
];
const SUMMARIES = [
  'Token refresh works; the retry on 401 is untested',
  'Ranking by recency is in, synonyms are next',
  'Reproduced: the session cookie is dropped behind the proxy',
  'CSV done, PDF waits for the fonts',
  'Key on the lock file only; Windows still misses',
  'Half of the tables moved; do not run the old job',
];
const SUBJECTS = [
  'Retry once after a 401',
  'Rank by recency',
  'Keep the cookie behind a proxy',
  'Export invoices as CSV',
  'Key the cache on the lock file',
  'Move the first tables',
];

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;
const hex = (seed: number, length: number) =>
  Array.from({ length }, (_, at) => (((seed + 1) * 2654435761 + at * 40503 * (seed + 7)) >>> (at % 13)) & 15)
    .map((digit) => digit.toString(16))
    .join('');

const note = (summary: string, round: number) =>
  `# Goal\n\n${summary}.\n\n# State\n\n- 42 of 44 tests pass\n- round ${round}: ${pick(SUBJECTS, round)}\n\n# Next action\n\n${pick(['Run the two tests that fail.', 'Ask for a review.', 'Measure it again.'], round)}\n`;

/** A board like a team's, after a day or (with many sessions) after weeks. Equal sizes give equal boards. */
export function sampleBoard({ sessions: count, handoffs }: SampleSize): Board {
  const gap = 11 * MINUTE;
  const sessions = Array.from({ length: count }, (_, at): BoardSession => {
    const from = NOW - at * gap - (20 + ((at * 37) % 90)) * MINUTE;
    const state = at < 3 ? 'live' : at % 7 === 4 ? 'dead' : at % 11 === 6 ? 'none' : 'ended';
    const to = state === 'live' ? NOW : Math.min(NOW - MINUTE, from + (25 + ((at * 53) % 140)) * MINUTE);
    return {
      id: `${hex(at, 8)}-${hex(at + 3, 4)}-4${hex(at + 5, 3)}-8${hex(at + 9, 3)}-${hex(at + 11, 12)}`,
      state,
      client: pick(CLIENTS, at),
      from,
      to,
      branch: pick(BRANCHES, at),
      worktree: at % 5 === 0 ? 'shop' : `shop-${pick(TOPICS, at)}`,
      ...(state === 'live'
        ? { work: [{ files: at + 1, added: 12 * at, removed: 7, command: `git handoff diff ${hex(at, 8)}` }] }
        : {}),
      ...(state === 'ended' ? { reason: pick(['clear', 'logout', 'other'], at) } : {}),
    };
  });
  const notes: Record<string, string> = {};
  const topics = Array.from({ length: handoffs }, (_, at): BoardTopic => {
    const rounds = Array.from({ length: 1 + (count === 0 ? 0 : at % 4) }, (__, round) => {
      const by = (at + round * 2) % Math.max(1, count);
      const session = sessions[by];
      const place = ((at * 7 + round * 3) % 10) / 10;
      const last = session === undefined ? NOW : session.from + (session.to - session.from) * place;
      return { by, at: Math.round(last) };
    }).sort((a, b) => a.at - b.at);
    const versions = rounds.map((one, round) => {
      const former = sessions[rounds[round - 1]?.by ?? -1];
      const step: BoardStep =
        former === undefined
          ? 'create'
          : round === 3
            ? 'close'
            : former === sessions[one.by]
              ? 'write'
              : 'take';
      const oid = hex(at * 31 + round, 40);
      if (at < 200) notes[oid] = note(pick(SUMMARIES, at), round);
      return {
        oid,
        ...one,
        step,
        summary: pick(SUMMARIES, at),
        ...(step === 'close' ? { closed: true as const } : {}),
        ...(step === 'take' && former !== undefined ? { takenFrom: former.id } : {}),
      };
    });
    versions.reverse();
    const number = at < TOPICS.length ? '' : `-${at}`;
    return { branch: pick(BRANCHES, at), topic: `${pick(TOPICS, at)}${number}`, versions };
  });
  const commits = sessions.flatMap((session, at): BoardCommit[] =>
    Array.from({ length: at % 4 }, (_, round) => ({
      oid: hex(at * 17 + round + 5000, 40),
      at: Math.round(session.from + ((session.to - session.from) * (round + 1)) / 5),
      by: [at],
      subject: pick(SUBJECTS, at + round),
      branch: pick(BRANCHES, at),
    })),
  );
  const refusals = sessions.flatMap((session, at): BoardRefusal[] =>
    at % 3 === 1
      ? [
          {
            at: Math.round(session.from + (session.to - session.from) * 0.7),
            by: at,
            detail: `src/${pick(TOPICS, at)}.ts: claude ${hex(at - 1, 8)} changed it 3 minutes ago and has not committed it. Nothing was changed. Work on something else until it is committed, or take over that change: git handoff take -- src/${pick(TOPICS, at)}.ts`,
          },
        ]
      : [],
  );
  const newest = (list: readonly { readonly at: number }[]) => [...list].sort((a, b) => b.at - a.at);
  return {
    v: 1,
    repository: 'shop',
    at: NOW,
    initialised: true,
    sessions,
    topics: topics.sort((a, b) => (b.versions[0]?.at ?? 0) - (a.versions[0]?.at ?? 0)),
    commits: newest(commits) as BoardCommit[],
    refusals: newest(refusals) as BoardRefusal[],
    notes,
    limits: handoffs > 200 ? ['This page has the texts of only 500 of 25000 versions, the newest ones.'] : [],
  };
}
