import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Arguments } from '../options.ts';
import { type Answer, type VerbTable, answer } from '../verb.ts';

/** The verb that shows people what happened. */
export const BOARD_VERBS: VerbTable = {
  board: {
    usage: 'board',
    group: 'sharing',
    summary: 'write a page of sessions, notes, commits and refusals',
    words: [0, 0],
    options: {
      output: {
        type: 'string',
        alias: 'o',
        value: '<file>',
        describe:
          'write this file (-: standard output); default: one in the repository, whose name is printed',
      },
      serve: { type: 'boolean', describe: 'serve it at 127.0.0.1 instead, with live updates, until Ctrl-C' },
      port: { type: 'string', value: '<number>', describe: 'with --serve: the port (default: any free one)' },
    },
    examples: [
      ['git handoff board', 'a file for the browser'],
      ['git handoff board --serve', 'the same, live'],
    ],
    async run(args, context, interaction): Promise<Answer> {
      const port = portOf(args);
      const [{ ASSETS }, { boardPage, boardPolicy }, { PAGE_START }] = await Promise.all([
        import('../../ui/board/assets.ts'),
        import('../../ui/board/page.ts'),
        import('./output.ts'),
      ]);
      const isServed = port !== undefined;
      const compose = (board: Parameters<typeof boardPage>[0]) =>
        boardPage(board, ASSETS, { start: PAGE_START, isServed });
      const render = async () => (await import('./board-text.ts')).renderBoard;
      if (port === undefined) {
        const { board } = await import('./board.ts');
        return answer(await board({ output: args.text('output'), compose }, context), render);
      }
      const { serveBoard } = await import('./serve.ts');
      const options = { port, compose, policy: boardPolicy(ASSETS, true), signal: interaction.stopSignal() };
      return answer(await serveBoard(options, context), render);
    },
  },
};

/** The port to serve at; `undefined`: a file is wanted. */
function portOf(args: Arguments): number | undefined {
  const text = args.text('port');
  const hint = 'git handoff board --serve';
  if (!args.flag('serve')) {
    if (text !== undefined) throw new Failure('usage', '--port belongs to --serve', { hint });
    return undefined;
  }
  if (args.text('output') !== undefined) {
    throw new Failure('usage', '--serve writes no file: leave --output out', { hint });
  }
  const port = Number(text ?? 0);
  if (/^\d{1,5}$/.test(text ?? '0') && port <= 65_535) return port;
  throw new Failure('usage', `not a port: ${escapeLine(JSON.stringify(text))}`, { hint });
}
