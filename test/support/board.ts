import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Board } from '../../src/ui/board/shape.ts';
import { LAUNCHER, type TestRepository } from './repository.ts';

/** The data inside of a page. */
export function dataOf(html: string): Board {
  const json = /<script type="application\/json" id="board">(.*?)<\/script>/s.exec(html)?.[1];
  return JSON.parse(json ?? 'null') as Board;
}

/** Writes a repository's board and reads it. */
export function boardOf(repository: TestRepository): Board {
  return dataOf(readFileSync(String(repository.json(['board'])['file']), 'utf8'));
}

/** A board that is being served. */
export interface ServedBoard {
  readonly child: ChildProcess;
  readonly url: string;
  /** Sends a signal and waits for the end: the exit code. */
  readonly stop: (signal: 'SIGINT' | 'SIGTERM') => Promise<number | null>;
}

/** Starts `git handoff board --serve` and waits for its address. */
export async function serveBoard(repository: TestRepository): Promise<ServedBoard> {
  const child = repository.start(LAUNCHER, ['board', '--serve', '--json']);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const text = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      if (out.endsWith('\n')) resolve(out);
    });
    child.once('close', () => reject(new Error(`board --serve ended: ${out}`)));
  });
  const { url } = JSON.parse(text) as { url: string };
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { child, url, stop };
}
