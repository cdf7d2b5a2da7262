/** A line of two texts, and which of them has it. */
interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Beyond so many comparisons the middle is told as replaced. */
const MAX_CELLS = 4_000_000;

/** What changed between two texts, line by line. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (
    tail < a.length - start &&
    tail < b.length - start &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail++;
  }
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ sign: ' ', text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - tail), b.slice(start, b.length - tail)),
    ...same(tail === 0 ? [] : a.slice(-tail)),
  ];
}

/** By the longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ sign: '-', text });
  const added = (text: string): DiffLine => ({ sign: '+', text });
  if (a.length * b.length > MAX_CELLS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const longer = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      lengths[i * width + j] = longer;
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i], b[j]];
    if (x !== undefined && x === y) {
      lines.push({ sign: ' ', text: x });
      i++;
      j++;
    } else if (y === undefined || (x !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(x ?? ''));
      i++;
    } else {
      lines.push(added(y));
      j++;
    }
  }
  return lines;
}

const CONTEXT = 3;

/** Only what changed with a few lines around it; `undefined` stands for lines that are left out. */
export function withContext(lines: readonly DiffLine[]): (DiffLine | undefined)[] {
  const keep = new Set<number>();
  lines.forEach(({ sign }, at) => {
    if (sign !== ' ') for (let near = at - CONTEXT; near <= at + CONTEXT; near++) keep.add(near);
  });
  const shown: (DiffLine | undefined)[] = [];
  lines.forEach((line, at) => {
    if (keep.has(at)) shown.push(line);
    else if (at > 0 && keep.has(at - 1)) shown.push(undefined);
  });
  return shown.at(-1) === undefined ? shown.slice(0, -1) : shown;
}
