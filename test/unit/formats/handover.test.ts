import { describe, expect, it } from 'vitest';
import { readHandover } from '../../../src/domain/formats/texts.ts';

describe('a handover', () => {
  it('is named after its goal, and states its branch and commit', () => {
    const text =
      '# Handover\r\n\r\n## Metadata\r\n\r\n- Updated: x\r\n- Branch: feature/x\r\n- HEAD: `abc1234`\r\n\r\n## Goal\r\n\r\nLimit the rate of the API\r\n';
    expect(readHandover(text)).toEqual({
      topic: 'limit-rate-api',
      goal: 'Limit the rate of the API',
      branch: 'feature/x',
      head: 'abc1234',
    });
  });

  it.each([
    ['## Metadata\n**Branch:** main\n', 'main'],
    ['## Metadata\n* **Branch**: `main`\n', 'main'],
    ['## Metadata\n- Branch:\n', undefined],
    ['## Metadata\n## Pending\n- Branch: main\n', undefined],
    ['- Branch: main\n', undefined],
    ['## Metadata\n- Branch: main\n- Branch: other\n', 'main'],
  ])('says in %j that it is on %s', (text, branch) => {
    expect(readHandover(text).branch).toBe(branch);
  });

  it.each([
    ['', 'handover-note'],
    ['## Goal\n\n(not specified)\n', 'handover-note'],
    ['## Goal\n\n- ship it\n', 'ship-it'],
    ['## Goal\n\n目標\n', 'handover-note'],
    ['## Goal\n\nrefactor\n', 'refactor-work'],
    [`## Goal\n\n${'many words '.repeat(50)}\n`, 'many-words-many-words-many-words'],
  ])('%j is called %s', (text, topic) => {
    expect(readHandover(text).topic).toBe(topic);
  });
});
