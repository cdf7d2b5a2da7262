import { describe, it } from 'vitest';
import { type Transport } from '../support/clones.ts';
import { amount, seeded } from '../support/faults/seed.ts';
import { SyncCampaign } from '../support/faults/sync-campaign.ts';

const NETWORK: readonly Transport[] = ['daemon', 'http'];

describe('three machines that sync at random', () => {
  it.each(Array.from({ length: amount(1, 10) }, (_, at) => at))('agree in the end, campaign %i', (at) =>
    seeded(`sync at random ${at}`, (random) =>
      SyncCampaign.run(random, random.pick(NETWORK), amount(200, 500)),
    ),
  );
});
