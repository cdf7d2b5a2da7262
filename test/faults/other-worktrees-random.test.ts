import { expect, it } from 'vitest';
import { amount, seeded } from '../support/faults/seed.ts';
import { WorktreeCampaign } from '../support/faults/worktree-campaign.ts';

it.each(Array.from({ length: amount(1, 5) }, (_, at) => at))(
  'thirty sessions in ten worktrees hear of each other’s changes, campaign %i',
  (at) =>
    seeded(`edits in worktrees ${at}`, async (random) => {
      const figures = await WorktreeCampaign.run(random, amount(40, 200));
      expect(figures['told']).toBeGreaterThan(0);
      return figures;
    }),
);
