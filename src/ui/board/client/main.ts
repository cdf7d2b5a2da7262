import type { Board } from '../shape.ts';
import { buildPage } from './page.ts';

const board = JSON.parse(document.getElementById('board')?.textContent ?? '') as Board;
const app = document.getElementById('app');
if (app !== null) {
  buildPage(app, board);
}
