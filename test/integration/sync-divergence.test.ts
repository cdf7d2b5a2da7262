import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';

const TOPIC = 'auth-refresh';
const REF = `refs/handoffs/main/${TOPIC}`;
const BASE = '# Goal\n\none\n\ntwo\n\nthree\n\nfour\n';

let world: Clones;
let ada: Clone;
let bob: Clone;
beforeEach(async () => {
  world = await Clones.start();
  ada = world.clone('Ada');
  bob = world.clone('Bob');
  ada.write(TOPIC, BASE);
  ada.sync();
  bob.sync();
});
afterEach(() => world.remove());

/** Both write; Ada's is at the server first. Returns both tips. */
function diverge(adas: string, bobs: string, topic = TOPIC): { adas: string; bobs: string } {
  const oids = { adas: ada.write(topic, adas, ['--take']), bobs: bob.write(topic, bobs, ['--take']) };
  ada.sync();
  return oids;
}

/** Whatever was done, after a sync of each all is the same, and a further one changes nothing. */
function expectSettled(...clones: Clone[]): void {
  for (const clone of clones) clone.sync();
  const refs = clones.map((clone) => refValues(clone, 'refs'));
  for (const clone of clones) {
    expect(clone.list()).toEqual(clones[0]?.list());
    for (const { topic } of clone.list())
      expect(clone.ok(['log', String(topic)])).toBe(clones[0]?.ok(['log', String(topic)]));
    expect(clone.sync()).toContain(`0 fetched, 0 pushed, ${clone.list().length} unchanged`);
  }
  expect(clones.map((clone) => refValues(clone, 'refs'))).toEqual(refs);
  for (const clone of clones) {
    expect(clone.handoffs()).toEqual(world.server.handoffs());
    expect(clone.git(['fsck', '--strict', '--no-dangling'])).toBe('');
  }
}

describe('what two machines wrote on one topic', () => {
  it('both stays: theirs keeps the name, ours goes on beside it', () => {
    const { adas, bobs } = diverge('ada\n', 'bob\n');
    const said = bob.sync();
    expect(said).toMatch(/set-aside +main\/auth-refresh +both sides wrote; the name stays with \w+ sess-ada/);
    expect(said).toContain('yours continues as main/auth-refresh-2');
    expect(bob.ref(REF)).toBe(adas);
    expect(bob.ref(`${REF}-2~1`)).toBe(bobs);
    expect(bob.git(['log', '-1', '--format=%(trailers:only)', `${REF}-2`])).toContain(
      `Handoff-Diverged-From: ${TOPIC}`,
    );
    ada.sync();
    expectSettled(ada, bob);
    expect(ada.note(TOPIC)).toBe('ada\n');
    expect(ada.note(`${TOPIC}-2`)).toBe('bob\n');
    expect(ada.list().map(({ owner }) => owner)).toEqual([ada.session, bob.session]);
  });

  it('can be written on by its owner without a take', () => {
    diverge('ada\n', 'bob\n');
    bob.sync();
    bob.write(`${TOPIC}-2`, 'bob again\n');
    ada.sync();
    ada.write(TOPIC, 'ada again\n');
    expectSettled(ada, bob, ada);
  });

  it('diverges again and gets the next number', () => {
    diverge('ada\n', 'bob\n');
    bob.sync();
    ada.sync();
    diverge('ada on bobs\n', 'bob on\n', `${TOPIC}-2`);
    bob.sync();
    ada.sync();
    expectSettled(ada, bob);
    expect(bob.list().map(({ topic }) => topic)).toEqual([TOPIC, `${TOPIC}-2`, `${TOPIC}-3`]);
    expect(bob.note(`${TOPIC}-2`)).toBe('ada on bobs\n');
    expect(bob.note(`${TOPIC}-3`)).toBe('bob on\n');
  });

  it('is no more lost by three than by two', () => {
    const eve = world.clone('Eve');
    eve.sync();
    eve.write(TOPIC, 'eve\n', ['--take']);
    diverge('ada\n', 'bob\n');
    bob.sync();
    eve.sync();
    for (const one of [ada, bob]) one.sync();
    expectSettled(ada, bob, eve);
    expect(ada.list().map(({ topic }) => ada.note(String(topic)))).toEqual(['ada\n', 'bob\n', 'eve\n']);
  });

  it('passes by a name that somebody uses here', () => {
    bob.write(`${TOPIC}-2`, 'another thread\n');
    diverge('ada\n', 'bob\n');
    bob.sync();
    expect(bob.note(`${TOPIC}-2`)).toBe('another thread\n');
    expect(bob.note(`${TOPIC}-3`)).toBe('bob\n');
  });

  it('fits into a name of 100 bytes', () => {
    const long = `auth-${'x'.repeat(93)}-y`;
    expect(long).toHaveLength(100);
    diverge('ada\n', 'bob\n', long);
    bob.sync();
    ada.sync();
    expectSettled(ada, bob);
    const names = bob.list().map(({ topic }) => String(topic));
    expect(names).toContain(`auth-${'x'.repeat(93)}-2`);
    expect(Math.max(...names.map((name) => name.length))).toBe(100);
  });

  it('is the same for notes that have no common beginning', () => {
    diverge('ada\n', 'bob\n', 'cache-layout');
    bob.sync();
    ada.sync();
    expectSettled(ada, bob);
    expect(ada.list()).toHaveLength(3);
  });

  it('keeps what was written when the other side only closed', () => {
    bob.write(TOPIC, 'bob\n', ['--take']);
    ada.ok(['close', TOPIC], { session: ada.session });
    ada.sync();
    bob.sync();
    ada.sync();
    expectSettled(ada, bob);
    expect(bob.list().map(({ state }) => state)).toEqual(['closed', 'open']);
  });

  it('follows the other side where this one wrote nothing', () => {
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

  it('shows the same in both histories', () => {
    diverge('ada\n', 'bob\n');
    bob.sync();
    expect(bob.ok(['log', `${TOPIC}-2`])).toContain('diverge');
    ada.sync();
    expectSettled(ada, bob);
  });

  it('is set aside under the same commit by a second try after a crash', () => {
    diverge('ada\n', 'bob\n');
    bob.sync();
    const aside = bob.ref(`${REF}-2`) ?? '';
    // As a crash between both halves would leave it.
    const mine = bob.ref(`${aside}~1`) ?? '';
    for (const ref of [REF, `refs/handoffs-local/kept/main/${TOPIC}`]) bob.git(['update-ref', ref, mine]);
    bob.sync();
    expect(bob.ref(`${REF}-2`)).toBe(aside);
    expect(bob.list()).toHaveLength(2);
  });
});

/** An editor that runs a line of shell on the file; what it was opened on is kept beside. */
function editor(clone: Clone, line: string): void {
  const file = join(clone.root, 'editor.sh');
  writeFileSync(file, `#!/bin/sh\ncp "$1" '${clone.root}/draft'\n${line}\n`, { mode: 0o755 });
  clone.git(['config', 'core.editor', file]);
}

const draft = (clone: Clone) => readFileSync(join(clone.root, 'draft'), 'utf8');
const RESOLVE = `sed -i -e '/^[<>|]\\{7\\} /d' -e '/^=======$/d' "$1"`;

describe('sync --merge', () => {
  it('joins what does not conflict, and the other machine goes forward to it', () => {
    diverge(BASE.replace('one', 'one by Ada'), BASE.replace('four', 'four by Bob'));
    editor(bob, 'true');
    expect(bob.sync('--merge')).toMatch(/merged +main\/auth-refresh/);
    expect(draft(bob)).toBe(BASE.replace('one', 'one by Ada').replace('four', 'four by Bob'));
    expect(bob.note(TOPIC)).toBe(draft(bob));
    expect(ada.sync()).toMatch(/forwarded +main\/auth-refresh/);
    expectSettled(ada, bob);
    expect(ada.list()).toHaveLength(1);
    expect(bob.git(['rev-list', '--parents', '-1', REF]).split(' ')).toHaveLength(3);
  });

  it('shows a conflict between markers that name both owners', () => {
    diverge(BASE.replace('two', 'two by Ada'), BASE.replace('two', 'two by Bob'));
    editor(bob, RESOLVE);
    bob.sync('--merge');
    expect(draft(bob)).toMatch(
      /^<<<<<<< .*sess-bob.*\n(.*\n)*two by Bob\n(.*\n)*=======\ntwo by Ada\n>>>>>>> .*sess-ada/m,
    );
    expect(bob.note(TOPIC)).toContain('two by Bob');
    expect(bob.note(TOPIC)).toContain('two by Ada');
    expect(ada.sync()).toMatch(/forwarded/);
    expectSettled(ada, bob);
  });

  it('leaves the versions of both lines to be read, on both machines', () => {
    const [byAda, byBob] = [BASE.replace('one', 'one by Ada'), BASE.replace('four', 'four by Bob')];
    const { adas, bobs } = diverge(byAda, byBob);
    editor(bob, 'true');
    bob.sync('--merge');
    ada.sync();
    for (const clone of [ada, bob]) {
      const items = clone.json(['log', TOPIC]).items as { oid: string; step: string }[];
      // Of the same second: which line comes first is open.
      expect(items.map(({ step }) => step).sort()).toEqual(['create', 'merge', 'take', 'write']);
      expect([items[0]?.step, items[3]?.step]).toEqual(['merge', 'create']);
      expect(items.slice(1, 3).map(({ oid }) => oid)).toEqual(expect.arrayContaining([adas, bobs]));
      expect(clone.json(['show', TOPIC, '--at', bobs])['note']).toBe(byBob);
      expect(clone.json(['show', TOPIC, '--at', adas])['note']).toBe(byAda);
      // What the merge changed is told from the line that had the name.
      expect(clone.json(['diff', TOPIC])['from']).toMatchObject({ oid: adas });
    }
  });

  it('refuses a note with markers left, and nothing has changed', () => {
    const { bobs } = diverge(BASE.replace('two', 'two by Ada'), BASE.replace('two', 'two by Bob'));
    editor(bob, 'echo "my own words" >> "$1"');
    const done = bob.as(['sync', '--merge']);
    expect(done.status).toBe(1);
    expect(done.stderr).toContain('conflict markers are left');
    const kept = /kept in (\S+)/.exec(done.stderr)?.[1] ?? '';
    expect(readFileSync(kept, 'utf8')).toContain('my own words');
    expect(bob.ref(REF)).toBe(bobs);
    expect(bob.list()).toHaveLength(1);
  });

  it('changes nothing when the editor fails', () => {
    const { bobs } = diverge(BASE.replace('two', 'two by Ada'), BASE.replace('two', 'two by Bob'));
    editor(bob, 'exit 1');
    const done = bob.as(['sync', '--merge']);
    expect(done.status).toBe(7);
    expect(existsSync(/kept in (\S+)/.exec(done.stderr)?.[1] ?? '')).toBe(true);
    expect(bob.ref(REF)).toBe(bobs);
    editor(bob, RESOLVE);
    bob.sync('--merge');
    ada.sync();
    expectSettled(ada, bob);
  });

  it('says how to choose an editor where git knows none: a dumb terminal', () => {
    const { bobs } = diverge(BASE.replace('two', 'two by Ada'), BASE.replace('two', 'two by Bob'));
    const done = bob.as(['sync', '--merge']);
    expect(done).toMatchObject({ status: 7 });
    expect(done.stderr).toContain('hint: git config core.editor <editor>');
    expect(bob.ref(REF)).toBe(bobs);
  });

  it('refuses an empty note', () => {
    const { bobs } = diverge('ada\n', 'bob\n');
    editor(bob, ': > "$1"');
    expect(bob.as(['sync', '--merge']).status).toBe(2);
    expect(bob.ref(REF)).toBe(bobs);
  });

  it('refuses a note that is too large', () => {
    const { bobs } = diverge('ada\n', 'bob\n');
    editor(bob, 'head -c 1048577 /dev/zero | tr "\\0" x > "$1"');
    const done = bob.as(['sync', '--merge']);
    expect(done.status).toBe(2);
    expect(done.stderr).toContain('1048577 bytes');
    expect(bob.ref(REF)).toBe(bobs);
  });

  it.each([
    ['the owner of this side, as a take', 'sess-bob-1', 'sess-ada-1'],
    ['the owner of the other side, as a take', 'sess-ada-1', 'sess-bob-1'],
    ['a stranger, as a take', 'sess-eve-1', 'sess-ada-1'],
  ])('may be done by %s', (_who, session, takenFrom) => {
    diverge('ada\n', 'bob\n');
    editor(bob, RESOLVE);
    expect(bob.handoff(['sync', '--merge'], { session })).toMatchObject({ status: 0 });
    expect(bob.list()).toMatchObject([{ owner: session }]);
    expect(bob.json(['show', TOPIC])['takenFrom']).toBe(takenFrom);
    expect(ada.sync()).toMatch(/forwarded/);
    expectSettled(ada, bob);
  });
});
