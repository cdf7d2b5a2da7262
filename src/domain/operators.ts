/** A person or agent that writes and receives notes, as OPERATORS.md lists it. */
export interface Operator {
  readonly id: string;
  /** In lower case. */
  readonly email: string | undefined;
  /** `YYYY-MM-DD`; from that day on the operator is no longer valid. */
  readonly activeUntil: string | undefined;
}

/** The form of an operator's id, which is also one component of a ref. */
const OPERATOR = /^[A-Za-z0-9_-]{1,64}$/;
/** The address of a note to nobody in particular. */
export const ANYONE = 'anyone';
/** How much of a file is read. Characters. */
const MAX_FILE = 256 * 1024;

/** Whether a text can be an operator's id. */
export function isOperatorId(text: string): boolean {
  return OPERATOR.test(text);
}

const ENTRY = /^[ \t]*[-*+][ \t]/;
const FIELD = /^(id|git_email|email|active_until)[ \t]*:/;
const EMAIL = /(?<![^\s<(|,:;`'"])[^\s<>()|,:;`'"@]{1,64}@[^\s<>()|,:;`'"@]{1,255}/;

/**
 * Reads OPERATORS.md: YAML entries (`- id: alice` with `git_email:` and `active_until:` below it, as in structured-handoff),
 * list items that begin with a name (`- alice <alice@example.org>`), or the rows of a table whose first cell is the name.
 * Anything else is prose. No YAML parser is loaded, because the hooks read the file, too, and must be fast.
 */
export function parseOperators(text: string): Operator[] {
  const found = new Map<string, Operator>();
  const add = (operator: Operator) => {
    if (OPERATOR.test(operator.id) && !found.has(operator.id)) found.set(operator.id, operator);
  };
  let entry: Record<string, string> | undefined;
  const flush = () => {
    if (entry?.['id'] !== undefined) add(fromFields(entry));
    entry = undefined;
  };
  for (const line of text.slice(0, MAX_FILE).split(/\r\n|\n|\r/)) {
    const mark = ENTRY.exec(line)?.[0];
    const item = mark === undefined ? undefined : line.slice(mark.length).trim();
    const field = FIELD.exec(item ?? line.trim());
    if (item !== undefined) flush();
    if (field !== null && (item !== undefined || entry !== undefined)) {
      entry ??= {};
      entry[field[1] ?? ''] ??= bare(field.input.slice(field[0].length).trim());
    } else if (item !== undefined) {
      entry = {};
      addNamed(item, add);
    } else if (line.startsWith('|')) addRow(line, add);
    else if (line.trim() === '' || /^\S/.test(line)) flush();
  }
  flush();
  return [...found.values()];
}

function fromFields(fields: Readonly<Record<string, string>>): Operator {
  const email = fields['git_email'] ?? fields['email'] ?? '';
  const until = fields['active_until'] ?? '';
  return {
    id: fields['id'] ?? '',
    email: email === '' ? undefined : email.toLowerCase(),
    activeUntil: /^\d{4}-\d{2}-\d{2}/.test(until) ? until.slice(0, 'YYYY-MM-DD'.length) : undefined,
  };
}

/** Strips quotes, backticks or a comment from a YAML scalar or Markdown code. */
function bare(text: string): string {
  const quoted = /^(["'`])(.*?)\1/.exec(text)?.[2];
  if (quoted !== undefined) return quoted;
  const comment = text.search(/(?:^|[ \t])#/);
  return (comment < 0 ? text : text.slice(0, comment)).trim();
}

/** Reads a list item: `alice` alone, or `alice` with an e-mail address after it. Other text is prose. */
function addNamed(item: string, add: (operator: Operator) => void): void {
  const id = /^[*`]{0,3}([A-Za-z0-9_-]{1,64})[*`]{0,3}(?![^\s:,(<])/.exec(item)?.[1];
  const email = EMAIL.exec(item)?.[0].toLowerCase();
  if (id !== undefined && (email !== undefined || item.replaceAll(/[*`]/g, '').trim() === id))
    add({ id, email, activeUntil: undefined });
}

/** Reads a row of a table. The table's head and the line below it have no address, so they name no operator. */
function addRow(line: string, add: (operator: Operator) => void): void {
  const id = (line.split('|', 2)[1] ?? '').replaceAll(/[*`]/g, '').trim();
  const email = EMAIL.exec(line)?.[0].toLowerCase();
  if (email !== undefined) add({ id, email, activeUntil: undefined });
}

/** Returns the operators that are still valid on `today` (`YYYY-MM-DD`). */
export function activeOperators(operators: readonly Operator[], today: string): Operator[] {
  return operators.filter(({ activeUntil }) => activeUntil === undefined || today < activeUntil);
}

/** Returns the operator that an e-mail address belongs to. */
export function operatorOf(email: string, operators: readonly Operator[]): string | undefined {
  const address = email.trim().toLowerCase();
  return address === '' ? undefined : operators.find((operator) => operator.email === address)?.id;
}
