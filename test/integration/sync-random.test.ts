import { expect, it } from 'vitest';
import { Random } from '../support/faults/seed.ts';
import { SyncCampaign } from '../support/faults/sync-campaign.ts';

/** The long runs of this stand in test/faults/sync-random.test.ts. */
it('three machines agree after sixty random operations', async () => {
  expect(await SyncCampaign.run(new Random(7), 'daemon', 60)).toMatchObject({ checked: 1 });
});
