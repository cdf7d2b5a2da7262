import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones } from '../support/clones.ts';
import { Forger } from '../support/forger.ts';

/** More notes than one git process accepts as arguments. The bench has 10,000. */
const MANY = 2500;
/** A sync that takes longer than this, in milliseconds, hangs even on a loaded machine. */
const HANGS_MS = 240_000;
/** The length of a history that is too long to be walked (src/git/histories.ts). */
const TOO_LONG = 200_100;

let world: Clones;
let ada: Clone;
let forger: Forger;
beforeEach(async () => {
  world = await Clones.start();
  ada = world.clone('Ada');
  forger = new Forger(world.server);
});
afterEach(() => world.remove());

const topic = (at: number) => `topic-${String(at).padStart(5, '0')}`;
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const update = (lines: readonly string[]) =>
  world.server.git(['update-ref', '--stdin'], { input: `${lines.join('\n')}\n` });

describe('many handoffs', () => {
  it('are fetched and pushed in a few processes, and nothing is left to do', { timeout: HANGS_MS }, () => {
    forger.plant(numbers(MANY).map(topic));
    const bad = numbers(500).map((at) => `create refs/handoffs/main/Bad-${at} ${forgedOnce()}`);
    update(bad);
    const answer = ada.syncJson();
    expect(answer.ok).toBe(true);
    expect(ada.handoffs().size).toBe(MANY);
    expect(answer.items.filter(({ action }) => action === 'created')).toHaveLength(MANY);
    expect(answer.items.filter(({ action }) => action === 'ignored')).toHaveLength(500);
    expect(ada.note(topic(MANY - 1))).toBe(`note ${MANY - 1}`);
    expect(ada.sync()).toContain(`0 fetched, 0 pushed, ${MANY} unchanged`);
    const bob = world.clone('Bob', { words: ['--bare'], folder: 'bob.git' });
    ada.git(['remote', 'add', 'bob', bob.path]);
    expect(ada.syncJson('bob').items.filter(({ action }) => action === 'pushed')).toHaveLength(MANY);
    expect(bob.handoffs()).toEqual(ada.handoffs());
  });

  it('are pushed without those that were deleted there or are invalid', { timeout: HANGS_MS }, () => {
    const bob = world.clone('Bob', { words: ['--bare'], folder: 'bob.git' });
    ada.git(['remote', 'add', 'bob', bob.path]);
    forger.plant(numbers(250).map(topic));
    ada.sync('origin', 'bob');
    expect(bob.handoffs()).toEqual(world.server.handoffs());
    bob.git(['update-ref', '-d', `refs/handoffs/main/${topic(3)}`]);
    ada.git(['update-ref', 'refs/handoffs/main/Stray', 'main']);
    ada.git(['update-ref', `refs/handoffs/main/${topic(251)}`, 'main']);
    forger.plant(numbers(250).map((at) => topic(at + 300)));
    ada.as(['sync', 'origin']);
    const answer = ada.syncJson('bob');
    expect(answer.items.filter(({ action }) => action === 'pushed')).toHaveLength(250);
    expect(answer.items.find(({ action }) => action === 'deleted-there')).toMatchObject({ topic: topic(3) });
    expect(bob.handoffs().size).toBe(499);
    expect(bob.ref('refs/handoffs/main/Stray')).toBeUndefined();
    expect(bob.ref(`refs/handoffs/main/${topic(251)}`)).toBeUndefined();
  });

  it('that are all invalid change nothing, and a good one beside them arrives', { timeout: HANGS_MS }, () => {
    const blob = forger.object('blob', 'evil');
    update(numbers(MANY).map((at) => `create refs/handoffs/main/${topic(at)} ${blob}`));
    forger.point('refs/handoffs/beside/good-topic', forger.commit({ topic: 'good-topic', branch: 'beside' }));
    const oid = ada.write('auth-refresh', 'ada\n');
    const answer = ada.syncJson();
    expect(answer.error.code).toBe('integrity');
    expect(answer.items.filter(({ action }) => action === 'refused')).toHaveLength(MANY);
    expect([...ada.handoffs().keys()]).toEqual([
      'refs/handoffs/beside/good-topic',
      'refs/handoffs/main/auth-refresh',
    ]);
    expect(world.server.ref('refs/handoffs/main/auth-refresh')).toBe(oid);
  });

  /** One legal commit for refs with bad names. */
  let forged: string | undefined;
  const forgedOnce = () => (forged ??= forger.commit());
  beforeEach(() => (forged = undefined));
});

it('an endless history changes nothing, not even for the handoffs beside it', { timeout: HANGS_MS }, () => {
  ada.write('auth-refresh', 'one\n');
  ada.sync();
  const bob = world.clone('Bob');
  bob.sync();
  const next = bob.write('auth-refresh', 'two\n', ['--take']);
  bob.sync();
  // These commits are dated later than all others, so that a walk reaches them first.
  const step = `committer Eve <eve@example.org> 4070908800 +0000\ndata 1\nx`;
  const lines = [
    `commit refs/heads/long\n${step}`,
    ...numbers(TOO_LONG).map(() => `commit refs/heads/long\n${step}`),
  ];
  world.server.git(['fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  const long = world.server.git(['rev-parse', 'refs/heads/long']);
  forger.point('refs/handoffs/main/evil-topic', forger.commit({ parents: [long], date: '4070908900 +0000' }));
  const answer = ada.syncJson();
  expect(ada.actions(answer).sort()).toEqual(['forwarded auth-refresh', 'refused evil-topic']);
  expect(answer.items.find(({ action }) => action === 'refused')?.['why']).toBe('history too long');
  expect(ada.ref('refs/handoffs/main/auth-refresh')).toBe(next);
});

it('a hole in one history is reported for that one only', () => {
  for (const name of ['auth-refresh', 'cache-layout']) {
    ada.write(name, 'one\n');
    ada.write(name, 'two\n');
  }
  ada.sync();
  const bob = world.clone('Bob');
  bob.sync();
  for (const name of ['auth-refresh', 'cache-layout']) bob.write(name, 'three\n', ['--take']);
  bob.sync();
  const root = ada.ref('refs/handoffs/main/cache-layout~1') ?? '';
  ada.run('rm', ['-f', `${ada.path}/.git/objects/${root.slice(0, 2)}/${root.slice(2)}`]);
  const answer = ada.syncJson();
  expect(answer.items.find((one) => one['topic'] === 'auth-refresh')).toMatchObject({ action: 'forwarded' });
});
