import { basename } from './disk.ts';
import type { ShellMachine } from './machine.ts';
import type { Scope } from './scope.ts';

/**
 * The one rule for texts that are not read: the program of an interpreter (`python3 -c …`), the words of a program that is not
 * known, a command that is too large. A text that spells a guarded path or ref and has a word that writes counts as writing it.
 * What a text hits of other paths is found by the look after the command.
 */

/** Words by which languages and programs change files and refs. */
const WRITES =
  /(?<![-=])>(?!=)|write|append|put_contents|\b(?:unlink|remove|rm|rename|replace|move|mv|cp|copy|truncate|delete|symlink|link|ln|tee|dd|touch|sponge|shred|output|once|save|dump|install|patch|sed -i|update-ref|symbolic-ref|push|fetch|inplace|in-place)|["'](?:[wax]b?|[rwax]b?\+b?)["']/i;
/** Calls that only read the file which they name. */
const READS =
  /\b(?:open|fopen|readFileSync|readFile|read_text)\s*\(\s*(["'])[^"'\n]*\1\s*(?:,\s*["'](?:r|rb|rt|utf-?8)["']\s*)?\)/g;

const MAX_WORD = 4096;
const MAX_FOUND = 64;
const DELIMITER = /[\s'"`<>|;&(){},=]/;

/** Records what a text spells, if it writes anything. */
export function recordSpelled(machine: ShellMachine, scope: Scope, text: string, by: string): void {
  // Most texts name nothing of the kind.
  if (!NAMES.test(text)) return;
  machine.charge(text.length);
  if (ALLOWS.test(text)) machine.handoff({ cwd: machine.disk.world.cwd, verb: 'allow', words: [] });
  const rest = text.replace(READS, '()');
  if (WRITES.test(rest)) recordNames(machine, scope, rest, by);
}

/** The verb that only a person may type: a program gives a session the terminal that it asks for (`script -c`). */
const ALLOWS = /handoff['",\s]+allow['",\s]+--once/;

const NAMES = /handoff|\.git\/hooks|\.husky|\/memory/;

/** Records what a text spells, whatever it does with it. */
export function recordNames(machine: ShellMachine, scope: Scope, text: string, by: string): void {
  const { home, cwd } = machine.disk.world;
  // The home folder is put before many a path by the program itself.
  const path = (word: string) =>
    word.replace(/^(?:~|\$HOME|\$)(?=\/)|^\/?(?=\.(?:claude|gemini)\/)/, (from) =>
      from === '/' || from === '' ? `${home}/` : home,
    );
  for (const part of ['handoff-', '.git/handoff', '.git/hooks', '.husky'])
    for (const word of wordsAround(text, part)) machine.write(scope, path(word), by);
  for (const word of wordsAround(text, '/memory'))
    if (/\/memory\/?\*?$/.test(word)) machine.remove(scope, path(word.replace(/\/?\*?$/, '')), by);
  for (const word of wordsAround(text, 'refs/handoffs')) {
    const [ref = ''] = word.slice(word.indexOf('refs/handoffs')).split(':').slice(-1);
    machine.ref(
      ref.includes('/', 'refs/handoffs/'.length) ? ref : `${ref.replace(/\/?\*?\*?$/, '')}/*`,
      cwd,
      by,
    );
  }
}

/** Programs that change files, which stand in a command that is too large to be read. */
const PROGRAMS =
  /\b(?:sed|awk|perl|python|node|ruby|vim?|ed|ex|find|xargs|git|open|rsync|curl|wget|tar|sort)/;

/** A command that is too large to be read; the names of guarded files count, too. */
export function recordLargeCommand(machine: ShellMachine, scope: Scope): void {
  const { source, disk } = machine;
  const by = 'a command too large to read';
  if (!PROGRAMS.test(source) && !WRITES.test(source)) return;
  recordNames(machine, scope, source, by);
  for (const path of disk.world.watched('/')) {
    // Refs are told by their whole name; a topic's words alone may stand in any text.
    if (!/\/(?:refs\/handoffs|packed-refs|reftable)/.test(path) && source.includes(basename(path)))
      machine.write(scope, path, by);
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
