import { expect, it } from 'vitest';
import { figuresOfSources } from '../../scripts/figures.mjs';

it.each(figuresOfSources())('$what: at most $most', ({ figure, most }) => {
  expect(figure).toBeLessThanOrEqual(most);
});
