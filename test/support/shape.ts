// eslint-disable-next-line no-control-regex -- a pseudo-terminal gets these after a question
const CURSOR_MOVE = /\x1b\[\d*[A-Za-z]/g;

/** Replaces what differs from run to run: object names, ages, versions, padding, moves of the cursor. */
export function shape(output: string): string {
  return output
    .replaceAll('\r', '')
    .replaceAll(CURSOR_MOVE, '')
    .replaceAll(/^Date: .*$/gm, 'Date: <date>')
    .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{12}|[0-9a-f]{16})\b/g, '<oid>')
    .replaceAll(/\b(still|to|at|index) ([0-9a-f]{7,8})\b/g, '$1 <oid>')
    .replaceAll(/\b[0-9a-f]{7}\b/g, '<oid>')
    .replaceAll(/\bperson-[0-9a-f]{8}\b/g, 'person-<id>')
    .replaceAll(/just now|\d+ (?:seconds?|minutes?) ago/g, '<age>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, '<time>')
    .replaceAll(/\b\d{10} [+-]\d{4}\b/g, '<time>')
    .replaceAll(/git version \S+/g, 'git version <version>')
    .replaceAll(/(?<=in the last )\d+ lines?/g, '<lines>')
    .replaceAll(/(?<=\/tmp\/git-handoff-)\w{6}\b/g, '<name>')
    .replaceAll(/\b1\d{12}\b/g, '<ms>')
    .replaceAll(/\bprocess \d+/g, 'process <pid>')
    .replaceAll(/ {2,}/g, '  ');
}

/**
 * Prepares the example of a page and the output of its command, so that a test can expect them to be equal. A line `…` of
 * the page stands for any number of lines.
 */
export function compared(shown: string, printed: string): { shown: string; printed: string } {
  const [expected, actual] = [shape(shown), shape(printed)];
  if (!expected.includes('…\n')) return { shown: expected, printed: actual };
  const parts = expected.split(/^…\n/m);
  const fits = partsInOrder(parts, actual);
  return { shown: expected, printed: fits ? expected : actual };
}

/** Whether a text begins with the first part and ends with the last. The others must begin lines between them, in order. */
function partsInOrder(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let position = first.length;
  for (const part of rest) {
    const found = `\n${text.slice(position)}`.indexOf(`\n${part}`);
    if (found < 0) return false;
    position += found + part.length;
  }
  const left = text.slice(position);
  return last === '' || left === last || left.endsWith(`\n${last}`);
}
