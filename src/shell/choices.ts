import type { Frame, ShellMachine, Status } from './machine.ts';
import type { Scope, Value } from './scope.ts';

const MAX_ATTEMPTS = 64;

/**
 * Runs a step once for each combination of the possible values that it looks at, so that expansion itself
 * deals with one value at a time. Without branches so far this is one plain call. Returns the first result.
 */
function eachChoice<T>(machine: ShellMachine, frame: Frame, run: (frame: Frame) => T): T | undefined {
  if (!machine.branched) return run(frame);
  const outer = machine.ambiguous;
  const layers: Scope[] = [];
  const results: T[] = [];
  const open: ReadonlyMap<string, Value>[] = [new Map()];
  for (let pins = open.pop(); pins !== undefined; pins = open.pop()) {
    if (layers.length >= MAX_ATTEMPTS) machine.exhausted = true;
    if (machine.exhausted) break;
    machine.ambiguous = [];
    const scope = frame.scope.layer();
    for (const [name, value] of pins) scope.set(name, value);
    results.push(run({ ...frame, scope }));
    layers.push(scope);
    open.push(...furtherChoices(frame.scope, pins, machine.ambiguous));
  }
  machine.ambiguous = outer;
  const [first] = layers;
  if (layers.length === 1 && first !== undefined) frame.scope.commit(first);
  else for (const layer of layers) frame.scope.join(layer);
  return results[0];
}

/** As `eachChoice`, of a step that succeeds or fails: told only when it does the same for every value. */
export function eachStatus(machine: ShellMachine, frame: Frame, run: (frame: Frame) => Status): Status {
  const statuses: Status[] = [];
  eachChoice(machine, frame, (chosen) => statuses.push(run(chosen)));
  const [first] = statuses;
  return statuses.every((status) => status === first) ? first : undefined;
}

/** The combinations that differ from a run at the variables it looked at: each exactly once over all runs. */
function furtherChoices(scope: Scope, pins: ReadonlyMap<string, Value>, seen: readonly string[]) {
  const found: Map<string, Value>[] = [];
  const fixed = new Map(pins);
  for (const name of new Set(seen)) {
    const [first, ...others] = scope.lookup(name)?.values ?? [];
    if (fixed.has(name) || first === undefined) continue;
    for (const value of others) found.push(new Map([...fixed, [name, value]]));
    fixed.set(name, first);
  }
  return found;
}
