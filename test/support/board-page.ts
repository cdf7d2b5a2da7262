import { ASSETS } from './board-assets.ts';
import type { Board } from '../../src/ui/board/shape.ts';
import { PAGE_START } from '../../src/verbs/board/output.ts';
import { boardPage } from '../../src/ui/board/page.ts';

/** The page of a board, with the built script and style. */
export function pageOf(board: Board): string {
  return boardPage(board, ASSETS, PAGE_START);
}
