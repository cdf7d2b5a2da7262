import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues, type Transport } from '../support/clones.ts';
import { startGroup } from '../support/faults/process-group.ts';
import { amount, type Figures, type Random, seeded, Tally } from '../support/faults/seed.ts';
import { type Run, START, type TestRepository } from '../support/repository.ts';

const TOPICS = ['auth-refresh', 'cache-layout', 'slow-tests', 'build-times', 'flaky-login'] as const;
const VERBS = ['sync', 'sync', 'fetch', 'push'] as const;
/** A sync is killed at most this many milliseconds after its start, which is about the time that a whole sync takes. */
const KILL_WITHIN_MS = 700;

/** Operations to choose from; those listed more often are more likely. */
const OPERATIONS = [
  ...Array<'write'>(30).fill('write'),
  ...Array<'take'>(6).fill('take'),
  ...Array<'close'>(4).fill('close'),
  ...Array<'reopen'>(4).fill('reopen'),
  ...Array<'travel'>(24).fill('travel'),
  ...Array<'together'>(5).fill('together'),
  ...Array<'kill'>(8).fill('kill'),
  ...Array<'rewind'>(3).fill('rewind'),
  ...Array<'gone'>(2).fill('gone'),
];

/**
 * Three machines write, take, close and sync in random order. Syncs are killed, the server goes away, and somebody rewinds
 * a handoff on the server by hand. In the end, all machines must agree, and no accepted text may be lost.
 */
class SyncCampaign {
  readonly #random: Random;
  readonly #tally = new Tally();
  readonly #world: Clones;
  readonly #clones: readonly Clone[];
  /** Texts of writes that reported success. */
  readonly #accepted = new Set<string>();
  #goneFor = 0;
  #count = 0;

  private constructor(random: Random, world: Clones) {
    this.#random = random;
    this.#world = world;
    this.#clones = ['Ada', 'Bob', 'Eve'].map((person) => world.clone(person));
    // The third clone reaches the server by its path, even if the others use the network.
    this.#clones[2]?.git(['remote', 'set-url', 'origin', world.server.path]);
  }

  /** Does this many operations, then the syncs that settle them, and checks the result. */
  static async run(random: Random, transport: Transport, operations: number): Promise<Figures> {
    const campaign = new SyncCampaign(random, await Clones.start(transport));
    try {
      for (let at = 0; at < operations; at++) await campaign.#operate();
      await campaign.#settle();
      await campaign.#check();
      return { operations, texts: campaign.#accepted.size, ...campaign.#tally.figures };
    } finally {
      await campaign.#world.remove();
    }
  }

  async #operate(): Promise<void> {
    if (this.#goneFor > 0 && --this.#goneFor === 0) await this.#comeBack();
    const clone = this.#random.pick(this.#clones);
    const operation = this.#random.pick(OPERATIONS);
    this.#tally.add(operation);
    switch (operation) {
      case 'write':
        return this.#write(clone);
      case 'take':
      case 'close':
      case 'reopen':
        return this.#change(clone, operation);
      case 'travel':
        return this.#travel(clone);
      case 'together':
        await Promise.all(this.#clones.map((one) => this.#travel(one)));
        return;
      case 'kill':
        return this.#kill(clone);
      case 'rewind':
        this.#rewind();
        return;
      case 'gone':
        return this.#leave();
    }
  }

  #start(clone: Clone, args: readonly string[], input = '') {
    return startGroup(clone, process.execPath, [...START, ...args], { session: clone.session, input });
  }

  /** Mostly one of a few topics, so that machines meet; sometimes the topic of any note that the clone has. */
  #topic(clone: Clone): string {
    const all = [...clone.handoffs().keys()].map((ref) => ref.slice(ref.lastIndexOf('/') + 1));
    return this.#random.below(4) === 0 && all.length > 0 ? this.#random.pick(all) : this.#random.pick(TOPICS);
  }

  async #write(clone: Clone): Promise<void> {
    const text = `note ${++this.#count} of ${clone.session}\n`;
    const words = this.#random.below(3) > 0 ? ['--take'] : [];
    const done = await this.#start(clone, ['write', this.#topic(clone), ...words], text).ended;
    this.#expectExit(done, [0, 3]);
    if (done.status === 0) this.#accepted.add(text);
  }

  async #change(clone: Clone, verb: string): Promise<void> {
    this.#expectExit(await this.#start(clone, [verb, this.#topic(clone)]).ended, [0, 1, 3]);
  }

  /** Exit 4: a race that six rounds did not settle; 5: the server is gone; 6: after a rewind, a history has a wrong name. */
  async #travel(clone: Clone, verb: string = this.#random.pick(VERBS)): Promise<void> {
    const done = await this.#start(clone, [verb]).ended;
    this.#expectExit(done, [0, 4, 5, 6]);
    this.#tally.add(`${verb === 'push' ? 'push' : 'sync'} exit ${done.status}`);
  }

  #expectExit(done: Run, allowed: readonly number[]): void {
    if (!allowed.includes(done.status ?? -1)) expect(done).toMatchObject({ status: allowed });
  }

  async #kill(clone: Clone): Promise<void> {
    const group = this.#start(clone, [this.#random.pick(VERBS)]);
    await wait(this.#random.below(KILL_WITHIN_MS));
    await group.kill();
    this.#unlock(clone);
    // If the remote is a path, the server's half of the sync was killed, too.
    if (clone === this.#clones[2] || this.#world.server.transport === 'path')
      this.#unlock(this.#world.server);
  }

  /** Removes the locks of killed git processes, as a person does. */
  #unlock(machine: TestRepository): void {
    for (const lock of machine.locks()) {
      this.#tally.add('locks of the dead');
      rmSync(lock, { force: true });
    }
  }

  /** Somebody sets a handoff of the server back by force. */
  #rewind(): void {
    const { server } = this.#world;
    const refs = [...server.handoffs()];
    if (refs.length === 0) return;
    const [ref, oid] = this.#random.pick(refs);
    const older = server.run('git', ['rev-parse', '--verify', '--quiet', `${oid}~1`]);
    if (older.status === 0) server.git(['update-ref', ref, older.stdout.trim()]);
  }

  async #leave(): Promise<void> {
    if (this.#world.server.transport === 'path') return;
    this.#goneFor = 4;
    await this.#world.server.stop();
  }

  async #comeBack(): Promise<void> {
    const { server } = this.#world;
    await server.serve();
    for (const clone of this.#clones.slice(0, 2)) clone.git(['remote', 'set-url', 'origin', server.url]);
  }

  /** Every clone syncs twice; the second time it must succeed. */
  async #settle(): Promise<void> {
    if (this.#goneFor > 0) await this.#comeBack();
    for (const clone of this.#clones) await this.#travel(clone, 'sync');
    for (const clone of this.#clones) this.#expectExit(await this.#start(clone, ['sync']).ended, [0]);
  }

  async #check(): Promise<void> {
    const { server } = this.#world;
    const there = server.handoffs();
    const [first] = this.#clones;
    for (const clone of this.#clones) {
      expect(clone.list(), clone.session).toEqual(first?.list());
      expect(clone.handoffs(), clone.session).toEqual(there);
      expect([...refValues(clone, 'refs/handoffs-remote/origin').values()]).toEqual([...there.values()]);
      expect([...refValues(clone, 'refs/handoffs-local/kept').values()]).toEqual([...there.values()]);
    }
    // If a text lost a race, the machine that wrote it keeps it as a lost text.
    const held = this.#clones.map(heldTexts).join('');
    expect([...this.#accepted].filter((text) => !held.includes(text))).toEqual([]);
    for (const machine of [server, ...this.#clones]) {
      const fsck = machine.run('git', ['fsck', '--strict', '--no-dangling', '--no-progress']);
      expect(fsck.stdout + fsck.stderr).toBe('');
      for (let looks = 0; looks < 50 && machine.locks().length > 0; looks++) await wait(20);
      expect(machine.locks()).toEqual([]);
    }
    this.#tally.add('checked');
  }
}

/** All handoffs and lost texts of a machine. */
function heldTexts(clone: Clone): string {
  const names = clone.git(['rev-list', '--objects', '--no-object-names', '--glob=refs/handoffs*']);
  return clone.run('git', ['cat-file', '--batch'], { input: `${names}\n` }).stdout;
}

const NETWORK: readonly Transport[] = ['daemon', 'http'];

describe('three machines that sync at random', () => {
  it.each(Array.from({ length: amount(1, 10) }, (_, at) => at))('agree in the end, campaign %i', (at) =>
    seeded(`sync at random ${at}`, (random) =>
      SyncCampaign.run(random, random.pick(NETWORK), amount(200, 500)),
    ),
  );
});
