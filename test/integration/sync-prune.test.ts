import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones } from '../support/clones.ts';

const TOPIC = 'auth-refresh';
const REF = `refs/handoffs/main/${TOPIC}`;

let world: Clones;
let ada: Clone;
let bob: Clone;
beforeEach(async () => {
  world = await Clones.start();
  ada = world.clone('Ada');
  bob = world.clone('Bob');
  ada.write(TOPIC, 'ada\n');
  ada.sync();
  bob.sync();
});
afterEach(() => world.remove());

/** Closes the note on Ada's machine, syncs, and deletes it as a closed note. */
function prune(): void {
  ada.ok(['close', TOPIC], { session: ada.session });
  ada.sync();
  ada.ok(['delete', '--closed', '--older-than', '0m', '--yes']);
  expect(ada.ref(REF)).toBeUndefined();
}

describe('a note that was pruned here', () => {
  it('does not come back from the remote, which keeps it', () => {
    prune();
    for (let times = 0; times < 2; times++) {
      expect(ada.sync()).toContain('0 fetched, 0 pushed');
      expect(ada.list()).toEqual([]);
    }
    expect(world.server.ref(REF)).toBeDefined();
    bob.sync();
    expect(bob.list()).toMatchObject([{ topic: TOPIC, state: 'closed' }]);
  });

  it('comes back when somebody continues it', () => {
    prune();
    bob.sync();
    bob.write(TOPIC, 'bob\n', ['--take']);
    bob.sync();
    expect(ada.sync()).toMatch(/created +main\/auth-refresh/);
    expect(ada.note(TOPIC)).toBe('bob\n');
    expect(ada.refs('refs/handoffs-local/pruned')).toEqual([]);
    expect(ada.list()).toEqual(bob.list());
  });

  it('can be written again: the remote’s note wins, and the new text is kept', () => {
    prune();
    ada.write(TOPIC, 'anew\n');
    ada.sync();
    bob.sync();
    ada.sync();
    expect(ada.list()).toEqual(bob.list());
    expect(ada.note(TOPIC)).toBe('ada\n');
    expect(ada.as(['show', TOPIC, '--lost=1']).stdout).toBe('anew\n');
  });

  it('can be pruned again after it was deleted there and written again', () => {
    prune();
    world.server.git(['update-ref', '-d', REF]);
    ada.write(TOPIC, 'anew\n');
    prune();
    expect(ada.sync()).toContain('0 fetched, 0 pushed');
  });
});

describe('a note that was deleted on the remote', () => {
  beforeEach(() => world.server.git(['update-ref', '-d', REF]));

  it('stays here and is reported', () => {
    const tip = ada.ref(REF);
    for (let times = 0; times < 2; times++) {
      const done = ada.as(['sync']);
      expect(done.status).toBe(0);
      expect(done.stdout).toMatch(
        /deleted-there +main\/auth-refresh +yours stays; to put it back there: git handoff sync --push --restore origin/,
      );
    }
    expect(ada.ref(REF)).toBe(tip);
    expect(world.server.handoffs().size).toBe(0);
  });

  it('does not return to the remote when it is continued', () => {
    ada.write(TOPIC, 'more\n');
    ada.ok(['sync']);
    expect(world.server.handoffs().size).toBe(0);
  });

  it('is put back by --restore, and then everything is as before', () => {
    ada.write(TOPIC, 'more\n');
    expect(ada.ok(['sync', '--push', '--restore', 'origin'])).toMatch(/pushed +main\/auth-refresh/);
    expect(bob.sync()).toMatch(/forwarded/);
    expect(bob.list()).toEqual(ada.list());
    expect(ada.sync()).toContain('1 unchanged');
  });

  it('is put back by the first to restore it, and the other sees that', () => {
    ada.sync('--restore');
    expect(bob.sync()).toContain('1 unchanged');
  });

  it('does not come to a clone that never had it', () => {
    const eve = world.clone('Eve');
    eve.sync();
    expect(eve.list()).toEqual([]);
  });
});
