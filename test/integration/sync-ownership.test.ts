import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones } from '../support/clones.ts';
import { finished } from '../support/repository.ts';

const REF = 'refs/handoffs/main/auth-refresh';

let world: Clones;
let ada: Clone;
let bob: Clone;
let eve: Clone;
beforeEach(async () => {
  world = await Clones.start();
  [ada, bob, eve] = ['Ada', 'Bob', 'Eve'].map((person) => world.clone(person)) as [Clone, Clone, Clone];
  ada.write('auth-refresh', 'ada\n');
  ada.sync();
  bob.sync();
  eve.sync();
});
afterEach(() => world.remove());

describe('a session on another machine', () => {
  it('cannot write before it takes, and its text is kept', () => {
    const done = bob.as(['write', 'auth-refresh'], { input: 'bob\n' });
    expect(done.status).toBe(3);
    expect(done.stderr).toContain(ada.session.slice(0, 8));
    expect(bob.handoff(['show', 'auth-refresh', '--lost=1']).stdout).toBe('bob\n');
    bob.ok(['take', 'auth-refresh'], { session: bob.session });
    bob.write('auth-refresh', 'bob\n');
    bob.sync();
    ada.sync();
    const refused = ada.as(['write', 'auth-refresh'], { input: 'ada again\n' });
    expect(refused.status).toBe(3);
    expect(refused.stderr).toContain(bob.session.slice(0, 8));
  });

  it('cannot close before it takes', () => {
    expect(bob.as(['close', 'auth-refresh'])).toMatchObject({ status: 3 });
  });
});

describe('a note that changed hands on another machine', () => {
  const taken = (session: string) =>
    new RegExp(
      `forwarded +main/auth-refresh +it belongs to \\w+ ${session.slice(0, 8)} now, no longer to \\w+ sess-ada; read it with: git handoff show main/auth-refresh\\n`,
    );

  it('is reported by the former owner’s sync: who has it now', () => {
    bob.ok(['take', 'auth-refresh'], { session: bob.session });
    bob.write('auth-refresh', 'bob\n');
    bob.sync();
    expect(ada.sync()).toMatch(taken(bob.session));
    expect(eve.json(['sync'], { session: eve.session }).items).toMatchObject([
      { owner: ada.session, newOwner: bob.session, why: expect.stringContaining('it belongs to') as string },
    ]);
  });
});

it('a note whose branch needs quotes is named so that the command works as printed', () => {
  const name = 'a;b/rate-limit';
  ada.git(['branch', 'a;b']);
  ada.write(name, 'ada\n');
  ada.sync();
  bob.sync();
  bob.ok(['take', name], { session: bob.session });
  bob.sync();
  expect(ada.sync()).toContain(`read it with: git handoff show '${name}'\n`);
});

describe('two takes on two machines', () => {
  it('give the note to the first to sync, and the other hears who has it', () => {
    bob.ok(['take', 'auth-refresh'], { session: bob.session });
    eve.ok(['take', 'auth-refresh'], { session: eve.session });
    bob.sync();
    const done = eve.as(['sync']);
    expect(done.status).toBe(0);
    expect(done.stdout).toMatch(
      /followed +main\/auth-refresh +\w+ sess-bob was first, \w+ sess-eve no longer owns it/,
    );
    expect(done.stdout).toContain(': git handoff show main/auth-refresh');
    expect(eve.list()).toMatchObject([{ owner: bob.session }]);
    expect(eve.ref(`${REF}-2`)).toBeUndefined();
    const refused = eve.as(['write', 'auth-refresh'], { input: 'eve\n' });
    expect(refused.status).toBe(3);
    expect(refused.stderr).toContain(bob.session.slice(0, 8));
  });
});

describe('racing pushers of one topic', () => {
  it(
    'have exactly one winner each round; the others hear of it, and all texts stay',
    { timeout: 300_000 },
    async () => {
      const machines = [
        ada,
        bob,
        eve,
        ...['F', 'G', 'H', 'I', 'J'].map((name) => world.clone(`Person${name}`)),
      ];
      const texts: string[] = [];
      for (let round = 0; round < 3; round++) {
        for (const one of machines) one.sync();
        for (const one of machines) {
          texts.push(`${one.session} in round ${round}\n`);
          one.write('auth-refresh', texts.at(-1) ?? '', ['--take']);
        }
        const runs = await Promise.all(
          machines.map((one) =>
            finished(one.start('git-handoff', ['push', '--json'], { session: one.session })),
          ),
        );
        const winners = runs.filter(({ status }) => status === 0);
        expect(winners).toHaveLength(1);
        for (const { status, stdout } of runs)
          if (status !== 0) {
            expect(status).toBe(4);
            expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'lost-race' } });
          }
        const winner = machines[runs.findIndex(({ status }) => status === 0)];
        expect(world.server.ref(REF)).toBe(winner?.ref(REF));
        for (const one of machines) one.sync();
      }
      for (const one of machines) one.sync();
      for (const one of machines) expect(one.list()).toEqual(machines[0]?.list());
      // The text of the writer that came second is still kept, as a lost text.
      const notes = machines.map((one) => {
        const names = one.git(['rev-list', '--objects', '--no-object-names', '--glob=refs/handoffs*']);
        return one.run('git', ['cat-file', '--batch'], { input: `${names}\n` }).stdout;
      });
      expect(texts.filter((text) => !notes.some((all) => all.includes(text)))).toEqual([]);
    },
  );
});
