import { readFileSync } from 'node:fs';
import type { Board } from '../../src/ui/board/shape.ts';
import type { TestRepository } from './repository.ts';

/** Returns the data inside a board's page. */
export function dataOf(html: string): Board {
  const json = /<script type="application\/json" id="board">(.*?)<\/script>/s.exec(html)?.[1];
  return JSON.parse(json ?? 'null') as Board;
}

/** Writes a repository's board and reads it. */
export function boardOf(repository: TestRepository): Board {
  return dataOf(readFileSync(String(repository.json(['board'])['file']), 'utf8'));
}
