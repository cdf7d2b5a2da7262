import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CALLER, type GuardWorldOptions, GuardWorld } from '../support/guard.ts';
import { type HostileCase, hostileCases } from '../support/hostile-cases.ts';

/** A part of the corpus, with one case of each sort. `test/unit/shell` runs the whole corpus. */
const SAMPLE = [
  ...['BD004', 'BD025', 'BD032', 'BD036', 'BD039', 'BD043', 'BD045', 'BD046', 'BD051', 'BD055', 'BD066'],
  ...['BD068', 'BD073', 'BD076', 'BD081', 'BD094', 'BD095', 'BD100', 'BD102', 'BD103', 'BD107', 'BD117'],
  ...['BD122', 'BD129', 'BD137', 'BD145', 'BD149', 'BD153', 'BD158', 'BD163', 'BD166', 'BD167', 'BD170'],
  ...['BD172', 'BA009', 'BA015', 'BA029', 'BA039', 'BA051', 'BA054', 'BA056', 'BA068', 'BA074', 'BA078'],
  ...['BA081', 'BA083', 'BA086', 'BA088', 'BA089', 'BA090', 'BA091'],
];
const cases = hostileCases<HostileCase>('bash.json').filter(({ id }) => SAMPLE.includes(id));

const worlds: readonly (GuardWorldOptions & { title: string; peer?: boolean; every?: number })[] = [
  // For a lone session, and without init, the launcher (in sh) answers some calls itself, so these worlds need processes.
  { title: 'alone in an initialised repository', calls: 'process' },
  { title: 'beside a live session', peer: true, every: 3 },
  { title: 'in a repository without init', initialised: false, calls: 'process', every: 3 },
];

describe.each(worlds)('shell commands, $title', ({ peer = false, every = 1, ...options }) => {
  let world: GuardWorld;
  let own: GuardWorld;
  beforeAll(() => {
    world = new GuardWorld(options);
    own = new GuardWorld({ ...options, owner: CALLER });
    for (const one of [world, own]) {
      one.sessionStart(CALLER);
      if (peer) one.sessionStart('sess-cccccccc-3333');
    }
  });
  afterEach(() => world.clean());
  afterAll(() => [world, own].forEach((one) => one.remove()));

  it.each(cases.filter((_, n) => n % every === 0))(
    '$id $why: $expect',
    ({ command, setup, cwd, owner, expect: expected }: HostileCase) => {
      const here = owner === 'caller' ? own : world;
      if (setup !== undefined) here.bash(here.fill(setup));
      const from = here.fill(cwd ?? '@CWD@');
      const answer = here.before('Bash', { command: here.fill(command) }, { cwd: from });
      expect(answer).toMatchObject({ kind: expected === 'deny' ? 'deny' : 'silent' });
    },
  );
});
