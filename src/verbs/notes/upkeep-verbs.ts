import { type Arguments, EXPECT, type OptionTable } from '../options.ts';
import { type VerbTable, answer, word } from '../verb.ts';

const TAKE_AND_EXPECT: OptionTable = {
  take: { type: 'boolean', describe: 'become the owner first if another session owns it' },
  expect: EXPECT,
};

/** The verbs that compare the versions of a note, close it and reopen it. */
export const UPKEEP_VERBS: VerbTable = {
  diff: {
    usage: 'diff [<branch>/]<topic> [<a> [<b>]]',
    group: 'notes',
    summary: 'show what changed in a note',
    details: 'By its last change, since version <a>, or from <a> to <b>.',
    words: [1, 3],
    options: {},
    examples: [['git handoff diff auth-refresh', 'what the last writer changed']],
    async run(args, context) {
      const { diff } = await import('./diff.ts');
      const [topic = '', ...versions] = args.words;
      const result = await diff({ topic, versions, session: args.text('session') }, context);
      return answer(result, async () => (await import('./notes-text.ts')).renderDiff);
    },
  },
  close: {
    usage: 'close [<branch>/]<topic>',
    group: 'notes',
    summary: 'mark a note as done',
    details: 'Its history stays.',
    words: [1, 1],
    options: TAKE_AND_EXPECT,
    examples: [['git handoff close auth-refresh', 'the work is done']],
    async run(args, context) {
      const { close } = await import('./close.ts');
      const result = await close(stateOptions(args), context);
      return answer(result, async () => (await import('./notes-text.ts')).renderState);
    },
  },
  reopen: {
    usage: 'reopen [<branch>/]<topic>',
    group: 'notes',
    summary: 'reopen a note that was closed',
    words: [1, 1],
    options: TAKE_AND_EXPECT,
    examples: [['git handoff reopen auth-refresh', 'it was not done after all']],
    async run(args, context) {
      const { reopen } = await import('./close.ts');
      const result = await reopen(stateOptions(args), context);
      return answer(result, async () => (await import('./notes-text.ts')).renderState);
    },
  },
};

function stateOptions(args: Arguments) {
  return {
    topic: word(args),
    take: args.flag('take'),
    expect: args.text('expect'),
    session: args.text('session'),
  };
}
