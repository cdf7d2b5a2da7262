import { option } from '../options.ts';
import { type Answer, type VerbTable, answer } from '../verb.ts';

export const BOARD_VERBS: VerbTable = {
  board: {
    usage: 'board',
    group: 'sharing',
    summary: 'write a page of sessions, notes, commits and refusals',
    words: [0, 0],
    options: {
      output: option(
        '<file>',
        'write this file (-: standard output); default: one in the repository, whose name is printed',
        { alias: 'o' },
      ),
    },
    examples: [['git handoff board', 'a file for the browser']],
    async run(args, context): Promise<Answer> {
      const { board, renderBoard } = await import('./board.ts');
      return answer(await board(args.text('output'), context), () => Promise.resolve(renderBoard));
    },
  },
};
