/** One call on a register that is read and compared-and-swapped. Times are of one clock, any unit. */
export type Operation = ReadOperation | SwapOperation;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface ReadOperation extends Span {
  readonly kind: 'read';
  readonly value: string;
}

interface SwapOperation extends Span {
  readonly kind: 'swap';
  readonly old: string;
  readonly next: string;
  /** `unknown`: its caller died; it took effect once, at any time after its start, or never. */
  readonly outcome: 'done' | 'refused' | 'unknown';
}

/**
 * Whether there is an order of all operations that keeps every "ended before the other began" and in which
 * each did to a single register what it reported (Wing and Gong 1993, with the memo of Lowe 2017).
 */
export function isLinearizable(history: readonly Operation[], initial: string): boolean {
  const seen = new Set<string>();
  const search = (done: bigint, value: string): boolean => {
    const open = history.flatMap((operation, at) => (done & (1n << BigInt(at)) ? [] : [{ operation, at }]));
    const required = open.filter(({ operation }) => !isOptional(operation));
    if (required.length === 0) return true;
    const key = `${done} ${value}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const firstEnd = Math.min(...required.map(({ operation }) => operation.end));
    return open.some(({ operation, at }) => {
      const next = operation.start <= firstEnd ? applied(operation, value) : undefined;
      return next !== undefined && search(done | (1n << BigInt(at)), next);
    });
  };
  return search(0n, initial);
}

const isOptional = (operation: Operation) => operation.kind === 'swap' && operation.outcome === 'unknown';

/** The value afterwards, `undefined` when the operation cannot have reported what it did at this value. */
function applied(operation: Operation, value: string): string | undefined {
  if (operation.kind === 'read') return operation.value === value ? value : undefined;
  if (operation.outcome === 'refused') return operation.old === value ? undefined : value;
  return operation.old === value ? operation.next : undefined;
}
