import { expect, it } from 'vitest';
import { routes } from '../../scripts/routes.mjs';

it('somebody new to the code who follows an Edit, a commit or a write opens no more sources than its limit', async () => {
  const found = await routes();
  expect(found.map(({ route }) => route)).toEqual(['Edit', 'commit', 'write']);
  for (const { route, sources, most } of found) {
    // A route that found no sources would meet any limit.
    expect(sources.length, route).toBeGreaterThan(10);
    expect(sources.length, `${route}:\n${sources.join('\n')}`).toBeLessThanOrEqual(most);
  }
});
