import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';

const TOPIC = 'auth-refresh';
const REF = `refs/handoffs/main/${TOPIC}`;

let world: Clones;
let ada: Clone;
let bob: Clone;
beforeEach(async () => {
  world = await Clones.start();
  ada = world.clone('Ada');
  bob = world.clone('Bob');
  ada.write(TOPIC, 'one\n');
  ada.sync();
  bob.sync();
});
afterEach(() => world.remove());

/** Both write, and Ada's note reaches the server first. Returns both tips. */
function diverge(adas: string, bobs: string, topic = TOPIC): { adas: string; bobs: string } {
  const oids = { adas: ada.write(topic, adas, ['--take']), bobs: bob.write(topic, bobs, ['--take']) };
  ada.sync();
  return oids;
}

/** Expects that after a sync of each clone all are equal, and that further syncs change nothing. */
function expectSettled(...clones: Clone[]): void {
  for (const clone of clones) clone.sync();
  const refs = clones.map((clone) => refValues(clone, 'refs/handoffs'));
  for (const clone of clones) {
    expect(clone.list()).toEqual(clones[0]?.list());
    for (const { topic } of clone.list())
      expect(clone.ok(['log', String(topic)])).toBe(clones[0]?.ok(['log', String(topic)]));
    expect(clone.sync()).toContain(`0 fetched, 0 pushed, ${clone.list().length} unchanged`);
  }
  expect(clones.map((clone) => refValues(clone, 'refs/handoffs'))).toEqual(refs);
  for (const clone of clones) {
    expect(clone.handoffs()).toEqual(world.server.handoffs());
    expect(clone.git(['fsck', '--strict', '--no-dangling'])).toBe('');
  }
}

const lost = (clone: Clone, topic = TOPIC) =>
  clone.json(['show', topic, '--lost']).items as { number: number; kind: string; session: string }[];

describe('texts that two machines wrote on one topic', () => {
  it('both stay: the first on the server is the note, the other is kept and can be printed', () => {
    const { adas, bobs } = diverge('ada\n', 'bob\n');
    const said = bob.sync();
    expect(said).toMatch(
      /set-aside +main\/auth-refresh +both sides wrote; the note belongs to \w+ sess-ada now; yours is kept, print it with: /,
    );
    const command = /print it with: git handoff (.*)$/m.exec(said)?.[1] ?? '';
    expect(bob.ok(command.split(' '))).toBe('bob');
    expect(bob.ref(REF)).toBe(adas);
    expect(bob.ref(`refs/handoffs-local/lost/main/${TOPIC}/1`)).toBe(bobs);
    expect(lost(bob)).toMatchObject([{ number: 1, kind: 'diverged', session: bob.session }]);
    ada.sync();
    expectSettled(ada, bob);
    expect(ada.list()).toMatchObject([{ topic: TOPIC, owner: ada.session }]);
  });

  it('stay with all versions, even after git’s garbage collection', () => {
    bob.write(TOPIC, 'first\n', ['--take']);
    diverge('ada\n', 'second\n');
    bob.sync();
    bob.git(['gc', '-q', '--prune=now']);
    const notes = bob.git(['log', '--format=%H', `refs/handoffs-local/lost/main/${TOPIC}/1`]).split('\n');
    expect(notes.map((oid) => bob.git(['cat-file', 'blob', `${oid}:handoff.md`]))).toEqual([
      'second',
      'first',
      'one',
    ]);
  });

  it('can be merged by the second writer, once it has taken the note', () => {
    diverge('ada\n', 'bob\n');
    bob.sync();
    expect(bob.as(['write', TOPIC], { input: 'both\n' }).status).toBe(3);
    bob.write(TOPIC, 'both\n', ['--take']);
    expectSettled(bob, ada, bob);
    expect(ada.note(TOPIC)).toBe('both\n');
  });

  it('are not lost the second time, either', () => {
    diverge('ada\n', 'bob\n');
    bob.sync();
    diverge('ada again\n', 'bob again\n');
    bob.sync();
    expect(lost(bob).map(({ number }) => bob.ok(['show', TOPIC, `--lost=${number}`]))).toEqual([
      'bob',
      'bob again',
    ]);
    expectSettled(ada, bob);
  });

  it('stay even if the notes have no common history', () => {
    diverge('ada\n', 'bob\n', 'cache-layout');
    bob.sync();
    ada.sync();
    expectSettled(ada, bob);
    expect(ada.list()).toHaveLength(2);
    expect(lost(bob, 'cache-layout')).toHaveLength(1);
  });

  it('stay if the other side only closed the note', () => {
    bob.write(TOPIC, 'bob\n', ['--take']);
    ada.ok(['close', TOPIC], { session: ada.session });
    ada.sync();
    bob.sync();
    expectSettled(ada, bob);
    expect(bob.list()).toMatchObject([{ state: 'closed' }]);
    expect(bob.ok(['show', TOPIC, '--lost=1'])).toBe('bob');
  });

  it('are fast-forwarded if this side wrote nothing', () => {
    bob.ok(['take', TOPIC], { session: bob.session });
    bob.ok(['close', TOPIC], { session: bob.session });
    ada.write(TOPIC, 'ada\n');
    ada.sync();
    expect(bob.sync()).toMatch(
      /followed +main\/auth-refresh +\w+ sess-ada was first, \w+ sess-bob no longer owns it/,
    );
    expectSettled(ada, bob);
    expect(bob.list()).toMatchObject([{ topic: TOPIC, state: 'open', owner: ada.session }]);
  });
});
