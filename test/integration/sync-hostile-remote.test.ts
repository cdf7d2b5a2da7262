import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';
import { Forger, type Forgery } from '../support/forger.ts';
import type { Json } from '../support/repository.ts';

interface RemoteCase {
  readonly id: string;
  readonly why: string;
  readonly expect: string;
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../fixtures/hostile/remote-refs.json', import.meta.url), 'utf8'),
) as { cases: RemoteCase[] };

/** A call that takes longer hangs: on an idle machine, none takes seconds. */
const HANGS_MS = 30_000;

let world: Clones;
let victim: Clone;
let forger: Forger;
beforeAll(async () => {
  world = await Clones.start('path');
  victim = world.clone('Ada');
  forger = new Forger(world.server);
  victim.write('first-topic', 'ours\n');
  victim.sync();
});
afterAll(() => world.remove());

/** One topic of a case. We and the remote have its note; the functions forge the remote's note and move its ref. */
interface Scene {
  readonly topic: string;
  readonly ref: string;
  readonly ours: () => string;
  readonly forge: (forgery?: Forgery) => string;
  readonly point: (oid: string, ref?: string) => void;
}

/** What the sync reports about the handoff (its action, and why), and what else must hold. */
interface Expected {
  readonly action: string;
  readonly why?: RegExp | string;
  /** `false`: our tip moves. */
  readonly stays?: false;
  readonly also?: (scene: Scene, answer: Json) => void;
}

type Act = (scene: Scene) => Expected;

const refused = (why: RegExp | string): Expected => ({ action: 'refused', why });
const ignored = (why: RegExp | string): Expected => ({ action: 'ignored', why });
/** A first note by a stranger, forged in some way. */
const first =
  (forgery: Forgery | (() => Forgery), expected: Expected): Act =>
  ({ forge, point }) => {
    point(forge(typeof forgery === 'function' ? forgery() : forgery));
    return expected;
  };
/** A version that follows our own note, forged in some way. */
const next =
  (forgery: (tip: string) => Forgery, expected: Expected): Act =>
  ({ ours, forge, point }) => {
    point(forge(forgery(ours())));
    return expected;
  };

const TOO_LARGE = 'a commit object of more than 16 KiB';
const MEBIBYTE_AND_ONE = 'x'.repeat(1024 * 1024 + 1);
const created: Expected = { action: 'created', stays: false };
/** Our note is kept as a lost text. */
const setAside = ({ topic }: Scene, tip: string): Expected => ({
  action: 'set-aside',
  stays: false,
  also: () => {
    expect(victim.ref(`refs/handoffs-local/lost/main/${topic}/1`)).toBe(tip);
    expect(victim.note(topic)).toBe('evil\n');
    expect(victim.ok(['show', topic, '--lost=1'])).toContain('ours');
  },
});

const ACTS: Readonly<Record<string, Act>> = {
  RR001: (scene) => {
    const trailers = [`Handoff-Taken-From: ${victim.session}`];
    scene.point(scene.forge({ parents: [scene.ours()], trailers }));
    return setAside(scene, victim.write(scene.topic, 'ours, written on\n'));
  },
  RR003: ({ ours, ref }) => {
    ours();
    world.server.git(['update-ref', '-d', ref]);
    return { action: 'deleted-there' };
  },
  RR007: ({ forge, point }) => {
    point(forge(), 'refs/handoffs/HEAD');
    return ignored('not the name of a handoff');
  },
  RR009: ({ forge, point }) => {
    point(forge(), 'refs/handoffs/main/a\u202eb');
    return ignored('not the name of a handoff');
  },
  RR010: ({ topic, ours, forge, point }) => {
    ours();
    point(forge(), `refs/handoffs/main/${topic.toUpperCase()}`);
    return ignored('not the name of a handoff');
  },
  RR011: ({ topic, forge }) => {
    const [upper, lower] = [`refs/handoffs/feature/${topic}`, `refs/handoffs/feature/${topic}/below-it`];
    pack(`${forge({ branch: 'feature' })} ${upper}`, `${forge()} ${lower}`);
    return { ...ignored('not the name of a handoff'), also: () => expect(victim.ref(upper)).toBeDefined() };
  },
  RR014: ({ forge, point }) => {
    point(forger.tag(forge()));
    return ignored('a tag');
  },
  RR016: first({ note: '' }, { ...created, also: ({ topic }) => expect(summary(topic)).toBe('evil') }),
  RR017: first({ summary: 'x'.repeat(5_000_000) }, refused(TOO_LARGE)),
  RR018: ({ ours, forge, point }) => {
    const tip = ours();
    point(forge({ parents: Array<string>(100_000).fill(tip) }));
    return refused(TOO_LARGE);
  },
  RR019: first(
    { trailers: Array.from({ length: 10_000 }, (_, at) => `X-Key-${at}: value`) },
    refused(TOO_LARGE),
  ),
  RR022: first(
    { message: 'evil\n\nClaude-Session-Id: sess-evil-1\nHandoff-State: open\n\nLast words.\n' },
    refused('unreadable trailers'),
  ),
  RR024: ({ forge, point, topic }) => {
    for (const [at, date] of [
      '4070908800 +0000',
      '0 +0000',
      '-5 +0000',
      '99999999999999999999 +0000',
    ].entries())
      point(forge({ topic: `${topic}-${at}`, date }), `refs/handoffs/main/${topic}-${at}`);
    point(forge());
    return {
      ...created,
      also: () => {
        for (let at = 0; at < 4; at++) expect(victim.note(`${topic}-${at}`)).toBe('evil\n');
        expect(victim.handoff(['list', '--all'])).toMatchObject({ status: 0, stderr: '' });
        expect(victim.handoff(['list', '--all']).stdout).not.toMatch(/NaN|Infinity|Invalid/);
      },
    };
  },
  RR031: first(
    { headers: ['gpgsig -----BEGIN PGP SIGNATURE-----', ' garbage', ' -----END PGP SIGNATURE-----'] },
    {
      ...created,
      also: ({ topic }) => {
        const said = victim.ok(['show', topic]) + victim.ok(['log', topic]);
        expect(said).not.toMatch(/signed|signature|verified/i);
      },
    },
  ),
  RR033: () => {
    victim.git(['config', 'remote.-x.url', world.server.path]);
    victim.git(['config', 'remote.--upload-pack=touch pwned.url', world.server.path]);
    for (const name of ['-x', '--upload-pack=touch pwned']) {
      const done = victim.as(['sync', '--', name]);
      expect(done).toMatchObject({ status: 2, stdout: '' });
      expect(victim.run('ls', ['pwned']).status).not.toBe(0);
    }
    for (const name of ['-x', '--upload-pack=touch pwned'])
      victim.git(['config', '--remove-section', `remote.${name}`]);
    return { action: 'none' };
  },
  RR038: ({ topic }) => {
    const hook = join(world.server.path, 'hooks', 'reference-transaction');
    writeFileSync(hook, '#!/bin/sh\n[ "$1" = committed ] && kill -9 $PPID\nexit 0\n', { mode: 0o755 });
    const oid = victim.write(topic, 'ours\n');
    expect(victim.as(['sync']).status).not.toBe(0);
    writeFileSync(hook, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    expect(world.server.ref(`refs/handoffs/main/${topic}`)).toBe(oid);
    return {
      action: 'none',
      also: () => {
        expect(victim.ref(`refs/handoffs/main/${topic}`)).toBe(oid);
        expect(victim.ref(`refs/handoffs/main/${topic}-2`)).toBeUndefined();
        expect(victim.ref(`refs/handoffs-remote/origin/main/${topic}`)).toBe(oid);
      },
    };
  },
  RX001: (scene) => {
    const tip = scene.ours();
    scene.point(scene.forge());
    return setAside(scene, tip);
  },
  RX002: ({ topic, ref, point, ours }) => {
    const before = ours();
    const tip = victim.write(topic, 'ours, written on\n');
    victim.sync();
    point(before);
    return {
      action: 'pushed',
      also: () => expect(world.server.ref(ref)).toBe(tip),
    };
  },
  RX003: ({ ref }) => {
    world.server.git(['symbolic-ref', ref, 'refs/handoffs/main/first-topic']);
    return ignored('a symbolic ref');
  },
  RX004: ({ point }) => {
    point(forger.object('blob', 'evil'));
    return refused('points at something that is not a commit');
  },
  RX005: ({ point }) => {
    point(world.server.git(['mktree'], { input: '' }));
    return refused('points at something that is not a commit');
  },
  RX006: next((tip) => ({ parents: [tip] }), refused('foreign owner without a take')),
  RX007: next(
    (tip) => ({ parents: [tip], trailers: ['Handoff-Taken-From: sess-nobody-1'] }),
    refused('taken from somebody who did not own it'),
  ),
  RX008: ({ topic, forge, point, ref }) => {
    const evil = forge();
    point(evil);
    victim.sync();
    const taken = victim.ok(['take', topic], { session: victim.session });
    victim.sync();
    const tip = victim.ref(ref) ?? taken;
    point(forge({ parents: [tip, evil] }));
    return {
      ...refused('merge of its own past'),
      stays: false,
      also: () => expect(victim.ref(ref)).toBe(tip),
    };
  },
  RX009: next(
    (tip) => ({ parents: [tip, world.server.git(['rev-parse', 'main'])], owner: victim.session }),
    refused(/./),
  ),
  RX010: first({ note: MEBIBYTE_AND_ONE }, refused('a note of more than 1 MiB')),
  RX011: ({ ours, forge, point }) => {
    const trailers = [`Handoff-Taken-From: ${victim.session}`];
    const large = forge({ parents: [ours()], note: MEBIBYTE_AND_ONE, trailers });
    point(forge({ parents: [large] }));
    return refused('a note of more than 1 MiB');
  },
  RX012: ({ topic, forge, point }) => {
    point(forge({ state: forger.state({ topic }).replace('"version":1', '"version":2') }));
    return refused('unknown format version');
  },
  RX013: first({ state: '{' }, refused('unreadable state.json')),
  RX014: first(
    () => ({ state: forger.state({ topic: 'other-topic' }) }),
    refused('names another branch or topic'),
  ),
  RX015: first({ branch: 'other' }, refused('names another branch or topic')),
  RX016: ({ topic, forge, point }) => {
    const state = forger.object('blob', forger.state({ topic }));
    point(forge({ tree: [`100644 blob ${state}\tstate.json`] }));
    return refused('no handoff.md');
  },
  RX017: ({ topic, forge, point }) => {
    const state = forger.object('blob', forger.state({ topic }));
    const folder = world.server.git(['mktree'], { input: '' });
    point(forge({ tree: [`040000 tree ${folder}\thandoff.md`, `100644 blob ${state}\tstate.json`] }));
    return refused('no handoff.md');
  },
  RX018: ({ topic, forge }) => {
    pack(`${forge()} refs/handoffs/main`);
    const tip = victim.write(topic, 'ours\n');
    return {
      ...ignored('not the name of a handoff'),
      also: ({ ref }, { items }) => {
        // The misnamed ref blocks every push to that branch, so another round would not help.
        expect(items.find((one) => one['topic'] === topic)).toMatchObject({ action: 'declined' });
        expect(victim.ref(ref)).toBe(tip);
      },
    };
  },
  RX019: ({ topic, forge, point }) => {
    point(forge({ branch: 'a-long-name' }), `refs/handoffs/a-lon%-0123456789ab/${topic}`);
    return refused('names another branch or topic');
  },
  RX020: ({ topic, forge, point }) => {
    point(forge({ branch: 'a%zz' }), `refs/handoffs/a%zz/${topic}`);
    return refused('names another branch or topic');
  },
  RX021: ({ topic, forge, point }) => {
    point(forge({ branch: 'a/b' }), `refs/handoffs/a%252Fb/${topic}`);
    return refused('names another branch or topic');
  },
  RX022: ({ point }) => {
    point(world.server.git(['rev-parse', 'main']));
    return refused('unreadable state.json');
  },
  RX023: first(() => ({ parents: [world.server.git(['rev-parse', 'main'])] }), refused(/./)),
  RX024: ({ forge, point }) => {
    point(forge({ topic: 'fix' }), 'refs/handoffs/main/fix');
    return ignored('not the name of a handoff');
  },
  RX025: first(
    {
      summary: '\x1b]0;owned\x07\x1b[2J\u202egone',
      trailers: ['Handoff-Client: \x1b[31mred', 'Handoff-Agent-Id: \x9b2J'],
    },
    {
      ...created,
      also: ({ topic }) => {
        for (const args of [['list', '--all'], ['show', topic], ['log', topic], ['status']])
          expect(CONTROL.test(victim.handoff(args).stdout), args.join(' ')).toBe(false);
      },
    },
  ),
  RX026: next((tip) => ({ parents: [tip, tip, tip] }), refused('too many parents')),
  RX027: first(
    { trailers: ['Handoff-Taken-From: sess-nobody-1'] },
    refused('taken from somebody who did not own it'),
  ),
  RX028: first({ trailers: ['Claude-Session-Id: sess-other-1'] }, refused('unreadable trailers')),
  RX029: ({ forge, point }) => {
    point(forger.tag(forger.tag(forge()), 'tag'));
    return ignored('a tag');
  },
  RX030: ({ forge, point, topic }) => {
    const long = `${topic}-${'x'.repeat(98 - topic.length)}`;
    victim.write(`${long}a`, 'ours\n');
    point(forge({ topic: `${long}b` }), `refs/handoffs/main/${long}b`);
    return { ...created, also: () => expect(victim.note(`${long}a`)).toBe('ours\n') };
  },
  RX031: ({ forge, point, topic }) => {
    const file = (name: string, text: string) => `100644 blob ${forger.object('blob', text)}\t${name}`;
    const [note, state] = [file('handoff.md', 'evil\n'), file('state.json', forger.state({ topic }))];
    const more = Array.from({ length: 10_000 }, (_, at) => note.replace('handoff.md', `more-${at}`));
    point(forge({ tree: [note, state, ...more] }));
    return refused('a commit with more files than a note has');
  },
};

/** Packs refs by hand that git would not create side by side. A server without git might show them. */
function pack(...lines: string[]): void {
  const file = join(world.server.path, 'packed-refs');
  world.server.git(['pack-refs', '--all']);
  const [head, ...packed] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const byName = (line: string) => line.slice(line.indexOf(' '));
  const rows = [...packed, ...lines].sort((one, other) => (byName(one) < byName(other) ? -1 : 1));
  writeFileSync(file, `${[head, ...rows].join('\n')}\n`);
}

/** What may not reach a terminal (invariants no_c0_c1 and no_bidi of the corpus). */
const CONTROL = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u;

function summary(topic: string): string {
  const item = victim.json(['list', '--all']).items.find((one) => one['topic'] === topic);
  return String(item?.['summary']);
}

function sceneOf(id: string): Scene {
  const topic = `case-${id.toLowerCase()}`;
  const ref = `refs/handoffs/main/${topic}`;
  return {
    topic,
    ref,
    ours: () => {
      const oid = victim.write(topic, `ours of ${id}\n`);
      victim.sync();
      return oid;
    },
    forge: (forgery = {}) => forger.commit({ topic, ...forgery }),
    point: (oid, other = ref) => forger.point(other, oid),
  };
}

const PACKED = ['packed-refs'];

/** Removes what a case left, so that the next one starts clean. */
function clean(): void {
  for (const machine of [world.server, victim]) {
    const begin = machine === victim ? machine.git(['rev-parse', '--absolute-git-dir']) : machine.path;
    const file = join(begin, ...PACKED);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    // By hand, because git cannot delete one of two refs that cannot exist side by side.
    if (lines.length > 0) writeFileSync(file, lines.filter((line) => !isOfACase(line)).join('\n'));
    for (const ref of machine.refs('refs'))
      if (isOfACase(ref)) machine.git(['update-ref', '--no-deref', '-d', ref]);
  }
}

const isOfACase = (text: string) => /refs\/handoffs/.test(text) && !/\/(?:first-topic|acks\/.*)$/.test(text);

describe('what a remote shows', () => {
  afterEach(clean);

  it('is covered: every case has an expectation', () => {
    expect(Object.keys(ACTS).sort()).toEqual(cases.map(({ id }) => id).sort());
  });

  it.each(cases)('$id $why', { timeout: 2 * HANGS_MS }, ({ id }) => {
    const scene = sceneOf(id);
    const expected = ACTS[id]!(scene);
    // A good handoff arrives at the same time.
    const good = `good-${id.toLowerCase()}`;
    const beside = { topic: good, branch: 'beside', note: `${good}\n` };
    forger.point(`refs/handoffs/beside/${good}`, forger.commit(beside));
    const before = victim.handoffs();
    const start = performance.now();
    const answer = victim.syncJson();
    expect(performance.now() - start).toBeLessThan(HANGS_MS);
    expect(victim.note(`beside/${good}`)).toBe(`${good}\n`);
    const told = answer.items.find(({ topic, ref, action }) =>
      action === 'ignored'
        ? !String(ref).includes('good-')
        : topic !== good && String(topic).includes(scene.topic),
    );
    expect(told?.['action'] ?? 'none').toBe(expected.action);
    if (expected.why !== undefined)
      expect(told?.['why']).toEqual(
        typeof expected.why === 'string' ? expected.why : expect.stringMatching(expected.why),
      );
    if (expected.stays !== false) for (const [ref, oid] of before) expect(victim.ref(ref)).toBe(oid);
    if (expected.action === 'refused') expect(answer.error.code).toBe('integrity');
    const again = victim.as(['sync']);
    expect(CONTROL.test(again.stdout + again.stderr)).toBe(false);
    expect(refValues(victim, 'refs/handoffs-local/kept').size).toBe(victim.handoffs().size);
    expected.also?.(scene, answer);
  });
});
