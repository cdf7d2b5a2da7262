import { describe, expect, it } from 'vitest';
import type { Call, Finding } from '../../../src/guard/call.ts';
import { type Check, judge } from '../../../src/guard/judge.ts';
import { budgetUntil, asCall, onceJudged } from '../../../src/host/io.ts';
import { PEER, SELF } from '../../support/guard-table.ts';

/** A call outside all repositories, and what is reported about it. */
function world() {
  const reported: string[] = [];
  const call = {
    tree: undefined,
    session: undefined,
    notChecked: (what: string) => reported.push(`not checked: ${what}`),
    log: (kind: string) => reported.push(kind),
  } as unknown as Call;
  return { call, reported };
}

const check = (rule: string, found: readonly Finding[], asked: string[] = []): Check<Call, undefined> => ({
  rule,
  when: () => true,
  judge: () => {
    asked.push(rule);
    return found;
  },
});

const endless = budgetUntil(Infinity, () => 0);
const refuse: Finding = { kind: 'refuse', text: 'no', allowedBy: 'person' };
const question = (anywhere: readonly Check<Call, undefined>[]) => ({
  anywhere,
  facts: undefined,
  inTrees: [],
  trees: () => [],
});

describe('the checks of a call', () => {
  it('run in order, up to the first refusal', async () => {
    const asked: string[] = [];
    const checks = [check('a', [], asked), check('b', [refuse], asked), check('c', [refuse], asked)];
    expect(await judge(world().call, question(checks))).toEqual([refuse]);
    expect(asked).toEqual(['a', 'b']);
  });

  it('do not run if they have nothing to judge', async () => {
    const never = { ...check('a', [refuse]), when: () => false };
    expect(await judge(world().call, question([never]))).toEqual([]);
  });

  it('that fail refuse nothing, do not stop the others, and are reported', async () => {
    const { call, reported } = world();
    const broken: Check<Call, undefined> = {
      rule: 'broken',
      when: () => true,
      judge: () => Promise.reject(new Error('EIO')),
    };
    expect(await judge(call, question([broken, check('b', [refuse])]))).toEqual([refuse]);
    expect(reported).toEqual(['open', 'not checked: the rule broken']);
  });
});

it('a call is refused even if the request to the owners cannot be written', async () => {
  const { call, reported } = world();
  const place = { commonDir: '/dev/null', worktreeId: 'w' };
  const claims = [{ session: PEER, path: 'f', since: 1 }];
  const asked: Finding = { ...refuse, asked: { place, from: SELF, wish: 'edit', claims } };
  const found = await judge({ ...call, session: SELF }, question([check('a', [asked])]));
  expect(found).toEqual([asked]);
  expect(reported).toEqual(['open']);
});

it('a check writes nothing: the file that its text names is written once all is judged', async () => {
  const order: string[] = [];
  const naming: Check<Call, undefined> = {
    rule: 'naming',
    when: () => true,
    judge: () => {
      onceJudged(() => order.push('written'));
      return [];
    },
  };
  const judging = () => judge(world().call, question([naming, check('last', [refuse], order)]));
  await asCall(endless, undefined, judging);
  expect(order).toEqual(['last', 'written']);
});

describe('an action of a check', () => {
  it('is reported with its rule if it fails, and the other actions are done', async () => {
    const { call, reported } = world();
    const done: string[] = [];
    const failing: Finding = { kind: 'do', when: 'judged', run: () => Promise.reject(new Error('EIO')) };
    await judge(call, question([check('save-first', [failing]), check('a', effects(done))]));
    expect(reported).toEqual(['open', 'not checked: what the rule save-first does']);
    expect(done).toEqual(['allowed', 'judged']);
  });

  const effects = (done: string[]): Finding[] => [
    {
      kind: 'do',
      when: 'allowed',
      run: async () => {
        done.push('allowed');
        return [{ kind: 'tell', text: 'saved' }];
      },
    },
    {
      kind: 'do',
      when: 'judged',
      run: async () => {
        done.push('judged');
        return [];
      },
    },
  ];

  it('is done once everything is judged, and its findings join the answer', async () => {
    const done: string[] = [];
    const checks = [
      check('a', effects(done)),
      { ...check('b', []), load: () => () => (expect(done).toEqual([]), []) },
    ];
    const found = await judge(world().call, question(checks));
    expect(done).toEqual(['allowed', 'judged']);
    expect(found).toContainEqual({ kind: 'tell', text: 'saved' });
  });

  it('is not done if the call is refused, unless it applies in any case', async () => {
    const done: string[] = [];
    await judge(world().call, question([check('a', effects(done)), check('b', [refuse])]));
    expect(done).toEqual(['judged']);
  });
});
