import type { Board } from '../shape.ts';
import { buildPage } from './page.ts';
import { follow } from './note-text.ts';

const board = JSON.parse(document.getElementById('board')?.textContent ?? '') as Board;
const app = document.getElementById('app');
if (app !== null) {
  const page = buildPage(app, board);
  follow(page.update, page.connected);
}
