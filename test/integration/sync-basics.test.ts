import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, TRANSPORTS, refValues } from '../support/clones.ts';

describe.each(TRANSPORTS)('a sync over %s', (transport) => {
  let world: Clones;
  let ada: Clone;
  let bob: Clone;
  beforeEach(async () => {
    world = await Clones.start(transport);
    ada = world.clone('Ada');
    bob = world.clone('Bob');
  });
  afterEach(() => world.remove());

  it('brings a handoff to the other machine, byte for byte, with its owner', () => {
    const oid = ada.write('auth-refresh', '# Goal\n\nFinish the refresh.\n');
    const said = ada.sync();
    expect(said).toContain('warning: no handoff has left for origin before');
    expect(said).toContain('1 pushed');
    expect(bob.sync()).toMatch(/created +main\/auth-refresh/);
    expect(bob.note('auth-refresh')).toBe('# Goal\n\nFinish the refresh.\n');
    expect(bob.list()).toEqual([
      { branch: 'main', topic: 'auth-refresh', oid, owner: ada.session, state: 'open' },
    ]);
    expect(bob.list()).toEqual(ada.list());
  });
});
