import { readFileSync, writeFileSync } from 'node:fs';
import { compared, shape } from '../../support/shape.ts';

/** A command whose output is not what its page shows. */
export interface Differing {
  readonly line: number;
  readonly shows: string;
  readonly output: string;
}

/**
 * What a page should show of an output. A shown line stays if it differs only in what differs between any two runs. If the
 * page leaves out lines (`…`), each line that is no longer printed becomes the most similar printed one. Returns `undefined`
 * if the page then still does not fit the output.
 */
export function renewed({ shows, output }: Differing): string | undefined {
  const [shown, printed] = [linesOf(shows), linesOf(output)];
  const known = (line: string, lines: readonly string[]) => lines.find((one) => shape(one) === shape(line));
  if (!shown.includes('…')) return joined(printed.map((line) => known(line, shown) ?? line));
  const text = joined(
    shown.map((line) =>
      line === '…' || known(line, printed) !== undefined ? line : mostLike(line, printed),
    ),
  );
  const { shown: expected, printed: actual } = compared(text, output);
  return expected === actual ? text : undefined;
}

/** Writes into a page what its commands print now. */
export function rewritePage(file: string, differing: readonly Differing[]): void {
  const lines = readFileSync(file, 'utf8').split('\n');
  // From the end, so that the numbers of earlier lines stay right.
  for (const one of [...differing].sort((a, b) => b.line - a.line)) {
    lines.splice(one.line, linesOf(one.shows).length, ...linesOf(renewed(one) ?? one.shows));
  }
  writeFileSync(file, lines.join('\n'));
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** The line that shares the most words. */
function mostLike(line: string, lines: readonly string[]): string {
  const words = new Set(line.split(/\s+/));
  const shared = (other: string) => other.split(/\s+/).filter((word) => words.has(word)).length;
  return lines.reduce((best, other) => (shared(other) > shared(best) ? other : best), '');
}
