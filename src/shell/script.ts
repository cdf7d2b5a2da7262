import { parse, type Statement } from 'unbash';
import type { ShellMachine } from './machine.ts';

const MAX_HEREDOCS = 200;

/**
 * Parses script text, as far as the budget lets it. A text that is too deep or too odd for the parser (it
 * recurses on `coproc coproc …`, and takes quadratic time over thousands of `<<`) exhausts the analysis, so
 * that the cheap rule decides.
 */
export function parseScript(machine: ShellMachine, text: string): readonly Statement[] {
  if (!machine.spend(text.length) || hasManyHeredocs(text)) {
    machine.exhausted = true;
    return [];
  }
  try {
    const script = parse(text);
    if (script.errors !== undefined) {
      machine.unsure = true;
      if (script.errors.some((error) => error.message.includes('nesting depth'))) machine.exhausted = true;
    }
    return script.commands;
  } catch {
    machine.exhausted = true;
    return [];
  }
}

function hasManyHeredocs(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf('<<'); at >= 0; at = text.indexOf('<<', at + 2)) {
    if (++count > MAX_HEREDOCS) return true;
  }
  return false;
}
