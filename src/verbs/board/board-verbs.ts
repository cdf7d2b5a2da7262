import { option } from '../options.ts';
import { type Answer, type VerbTable, answer } from '../verb.ts';

/** The verb that shows people what happened. */
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
      const [{ ASSETS }, { boardPage }, { PAGE_START, board, renderBoard }] = await Promise.all([
        import('../../ui/board/assets.ts'),
        import('../../ui/board/page.ts'),
        import('./board.ts'),
      ]);
      const compose = (found: Parameters<typeof boardPage>[0]) => boardPage(found, ASSETS, PAGE_START);
      const result = await board({ output: args.text('output'), compose }, context);
      return answer(result, () => Promise.resolve(renderBoard));
    },
  },
};
