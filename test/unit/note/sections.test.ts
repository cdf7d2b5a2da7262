import { describe, expect, it } from 'vitest';
import { noteSections } from '../../../src/domain/note/sections.ts';

const NOTHING = {
  goal: undefined,
  state: undefined,
  nextAction: undefined,
  stopConditions: undefined,
  importantFiles: undefined,
};

describe('the sections of a note', () => {
  it('are found by their headings, unchanged', () => {
    const note =
      '# Goal\n\nRefresh *before* it expires.\n\n# State: done, not done\n\n- done\n\n# Next action\n\n`npm test`\n\n# Stop conditions\n\nA red test.\n';
    expect(noteSections(note)).toEqual({
      ...NOTHING,
      goal: 'Refresh *before* it expires.',
      state: '- done',
      nextAction: '`npm test`',
      stopConditions: 'A red test.',
    });
  });

  it.each([
    ['a deeper level', '# Handover\n## Goal\nx\n## Next Action\ny\n', { goal: 'x', nextAction: 'y' }],
    ['closing marks', '## Goal ##\nx\n', { goal: 'x' }],
    ['CRLF', '# Goal\r\nx\r\n# Next steps\r\ny\r\n', { goal: 'x', nextAction: 'y' }],
    ['bold lines', '**Goal**\nx\n**Next action:** y\nz\n', { goal: 'x', nextAction: 'y\nz' }],
    ['labels', 'Goal: x\nNext action: y\n', { goal: 'x', nextAction: 'y' }],
    ['capitals', '# NEXT ACTION\ny\n', { nextAction: 'y' }],
    ['a section twice', '# Goal\nx\n# Goal\ny\n', { goal: 'x' }],
    ['an empty section', '# Goal\n\n# Next action\ny\n', { nextAction: 'y' }],
    ['a foreign heading behind it', '# Goal\nx\n# Failure traces\ny\n', { goal: 'x' }],
    ['a heading of its own below it', '# Goal\nx\n## In detail\ny\n', { goal: 'x\n## In detail\ny' }],
    ['a byte order mark', '\uFEFF# Goal\nx\n', { goal: 'x' }],
    ['bold items of a list', '- **Goal:** x\n- **Next**: y\n', { goal: 'x', nextAction: 'y' }],
    ['a label for what is next', 'Goal: x\nNext: y\n', { goal: 'x', nextAction: 'y' }],
    ['a sentence that says what is next', 'Half of it works. Next: the rest.\n', { nextAction: 'the rest.' }],
    ['such a sentence beside a section', 'It works. Next: x\n## Next action\ny\n', { nextAction: 'y' }],
    ['such a sentence in a code fence', '```\nIt works. Next: x\n```\n', {}],
    [
      'a line of prose with code',
      '# Goal\n```npm test``` is green\n# Next\ny\n',
      { goal: '```npm test``` is green', nextAction: 'y' },
    ],
    [
      'a label below a heading, which ends no section',
      '# Next action\n1. x\nStatus: half\n- **Files:** `a.ts`\n2. never push\n# Goal\ny\n',
      {
        nextAction: '1. x\nStatus: half\n- **Files:** `a.ts`\n2. never push',
        state: 'half',
        importantFiles: '`a.ts`\n2. never push',
        goal: 'y',
      },
    ],
    [
      'their own heading sooner than a label',
      '# Next action\nStatus: half\n# State\ny\n',
      { nextAction: 'Status: half', state: 'y' },
    ],
    ['a foreign label in it', '# Goal\nNote: x\ny\n', { goal: 'Note: x\ny' }],
  ])('stand under %s', (_what, note, sections) => {
    expect(noteSections(note)).toEqual({ ...NOTHING, ...sections });
  });

  it.each([
    ['in a fence', '```\n# Goal\nx\n```\n'],
    ['in a longer fence', '````\n```\n# Goal\n```\nGoal: x\n````\n'],
    ['in a fence that nobody closes', '~~~\n# Goal\nx\n'],
    ['without a space', '#Goal\nx\n'],
    ['as a word of prose', 'The Goal is this.\nGoals: many\n'],
  ])('are not found %s', (_what, note) => {
    expect(noteSections(note)).toEqual(NOTHING);
  });

  it('keep fenced blocks complete', () => {
    const fence = '```sh\n# Goal\nnpm test\n```';
    expect(noteSections(`# Next action\n${fence}\n# Goal\nx\n`)).toMatchObject({
      nextAction: fence,
      goal: 'x',
    });
  });
});
