import type { ShellMachine } from './machine.ts';
import { basename } from './disk.ts';
import type { Scope } from './scope.ts';

/** Longest command that is parsed; beyond it the cheap rule decides alone. */
const MAX_PARSED = 1 << 18;
/** Most quotes, operators and line feeds in one: each costs a microsecond or more, whatever the length. */
const MAX_MARKS = 30_000;

const MARKS = new Set(Array.from(';&|<>\n\'"`(){}', (mark) => mark.charCodeAt(0)));

/** Whether a command is too much to be read within the guard's time. */
export function isTooLarge(text: string): boolean {
  if (text.length > MAX_PARSED) return true;
  if (text.length <= MAX_MARKS) return false;
  let marks = 0;
  for (let at = 0; at < text.length; at++) if (MARKS.has(text.charCodeAt(at))) marks++;
  return marks > MAX_MARKS;
}

const BY = 'a command too large to read';
const MAX_WORD = 4096;
const MAX_FOUND = 64;
const DELIMITER = /[\s'"`<>|;&(){},=]/;
const OPERATOR =
  />|\b(?:tee|cp|mv|rm|dd|ln|sed|perl|python|node|ruby|awk|install|rsync|truncate|shred|unlink|patch|ed|ex|vim?|find|xargs|git|open|write|sort|curl|wget|tar)/;

/**
 * The rule for commands that are too large or too nested to read: a handoff's file or ref that is named in a
 * text with any write operator counts as changed. One pass over the text per kind of name.
 */
export function addCheapEffects(machine: ShellMachine, scope: Scope): void {
  const { source, disk } = machine;
  if (!OPERATOR.test(source)) return;
  for (const word of wordsAround(source, 'handoff-')) {
    machine.write(scope, homeExpanded(word, disk.world.home), BY);
  }
  for (const path of disk.world.watched('/')) {
    // Refs are told by their whole name, below; a topic's words alone may stand in any text.
    if (!/\/(?:refs\/handoffs|packed-refs|reftable)/.test(path) && source.includes(basename(path))) {
      machine.write(scope, path, BY);
    }
  }
  for (const word of wordsAround(source, '/memory')) {
    machine.remove(scope, homeExpanded(word, disk.world.home), BY);
  }
  for (const word of wordsAround(source, 'refs/handoffs')) {
    const ref = word.slice(word.indexOf('refs/handoffs'));
    machine.ref(
      ref
        .split(':')
        .at(-1)
        ?.replace(/\*?$/, ref.includes('/', 14) ? '' : '/*') ?? ref,
      disk.world.cwd,
      BY,
    );
  }
}

/** The words in which a text occurs; each character is looked at a bounded number of times. */
function wordsAround(source: string, text: string): Set<string> {
  const found = new Set<string>();
  let after = 0;
  for (let at = source.indexOf(text); at >= 0 && found.size < MAX_FOUND; at = source.indexOf(text, after)) {
    let start = at;
    while (start > after && at - start < MAX_WORD && !DELIMITER.test(source.charAt(start - 1))) start--;
    let end = at + text.length;
    while (end < source.length && end - at < MAX_WORD && !DELIMITER.test(source.charAt(end))) end++;
    found.add(source.slice(start, end));
    after = end;
  }
  return found;
}

function homeExpanded(word: string, home: string): string {
  return word.replace(/^(?:~|\$HOME|\$)(?=\/)/, home);
}
