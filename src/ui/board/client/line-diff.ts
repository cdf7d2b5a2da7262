/** A line of the earlier text (`-`), of the later text (`+`), or of both. */
interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** If the line counts of two texts multiply to more than this, only their common beginning is compared. */
const MAX_CELLS = 16_000_000;

/** Compares two texts line by line, by their longest common subsequence. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const width = b.length + 1;
  const lengths = new Uint16Array(a.length * b.length > MAX_CELLS ? 0 : (a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0 && lengths.length > 0; i--) {
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
      lines.push({ sign: '-', text: x ?? '' });
      i++;
    } else {
      lines.push({ sign: '+', text: y });
      j++;
    }
  }
  return lines;
}

const CONTEXT = 3;

/** Keeps the changed lines and a few around them; `undefined` stands for the lines left out between them. */
export function withContext(lines: readonly DiffLine[]): (DiffLine | undefined)[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  );
  const isGap = (at: number) => isNear[at - 1] === true && isNear.includes(true, at);
  return lines.flatMap((line, at) => (isNear[at] === true ? [line] : isGap(at) ? [undefined] : []));
}
