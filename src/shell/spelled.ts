import { basename } from './disk.ts';
import type { Shell } from './machine.ts';

/**
 * The one rule for texts that are not parsed: an interpreter's program (`python3 -c …`), the words of an unknown
 * program, a command that is too large. A text that contains a guarded path or ref, and a word that writes, counts as
 * writing that path or ref. The `git status` after the command finds what else the text changes.
 */

/** The words by which languages and programs change files and refs. */
const WRITES =
  /(?<![-=])>(?!=)|write|append|put_contents|\b(?:unlink|remove|rm|rename|replace|move|mv|cp|copy|truncate|delete|symlink|link|ln|tee|dd|touch|sponge|shred|output|once|save|dump|install|patch|sed -i|update-ref|symbolic-ref|push|fetch|inplace|in-place)|["'](?:[wax]b?|[rwax]b?\+b?)["']/i;
/** Calls that only read the file that they name. */
const READS =
  /\b(?:open|fopen|readFileSync|readFile|read_text)\s*\(\s*(["'])[^"'\n]*\1\s*(?:,\s*["'](?:r|rb|rt|utf-?8)["']\s*)?\)/g;

const MAX_FOUND = 64;
const WORDS = /[^\s'"`<>|;&(){},=]+/g;

/** Records the guarded names that a text contains, if it also has a word that writes. */
export function recordSpelled(shell: Shell, text: string, by: string): void {
  if (!NAMES.test(text)) return;
  shell.machine.charge(text.length);
  if (ALLOWS.test(text))
    shell.machine.found.handoffCalls.push({ cwd: shell.machine.disk.world.cwd, verb: 'allow', words: [] });
  const rest = text.replace(READS, '()');
  // Words of a path do not count: a folder above the guarded file may be called `rm-tool` or `copies`.
  const verbs = rest.replace(WORDS, (word) => (word.includes('/') && NAMES.test(word) ? '' : word));
  if (WRITES.test(verbs)) recordNames(shell, rest, by);
}

/** Only a person may type this verb, but a session could run it in a terminal that a program makes (`script -c`). */
const ALLOWS = /handoff['",\s]+allow['",\s]+--once/;

const NAMES = /handoff|\.git\/hooks|\.husky|\/memory/;

/** Records the guarded names that a text contains, whatever it does with them. */
export function recordNames(shell: Shell, text: string, by: string): void {
  if (!NAMES.test(text)) return;
  const words = [...new Set(text.match(WORDS)?.filter((word) => NAMES.test(word)))];
  const wordsWith = (part: string) => words.filter((word) => word.includes(part)).slice(0, MAX_FOUND);
  const { home, cwd } = shell.machine.disk.world;
  // Programs often join the home folder and a path like `/.claude/…`.
  const path = (word: string) =>
    word.replace(/^(?:~|\$HOME|\$)(?=\/)|^\/?(?=\.(?:claude|gemini)\/)/, (from) =>
      from === '/' || from === '' ? `${home}/` : home,
    );
  for (const part of ['handoff-', '.git/handoff', '.git/hooks', '.husky'])
    for (const word of wordsWith(part)) shell.write(path(word), by);
  for (const word of wordsWith('/memory'))
    if (/\/memory\/?\*?$/.test(word)) shell.remove(path(word.replace(/\/?\*?$/, '')), by);
  for (const word of wordsWith('refs/handoffs')) {
    const [ref = ''] = word.slice(word.indexOf('refs/handoffs')).split(':').slice(-1);
    shell.machine.ref(
      ref.includes('/', 'refs/handoffs/'.length) ? ref : `${ref.replace(/\/?\*?\*?$/, '')}/*`,
      cwd,
      by,
    );
  }
}

/** Programs that may change files, sought as words in a command that is too large to parse. */
const PROGRAMS =
  /\b(?:sed|awk|perl|python|node|ruby|vim?|ed|ex|find|xargs|git|open|rsync|curl|wget|tar|sort)/;

/** Records what a command that is too large to parse may change. A guarded file counts if its base name occurs. */
export function recordLargeCommand(shell: Shell): void {
  const { source, disk } = shell.machine;
  const by = 'a command too large to read';
  if (!PROGRAMS.test(source) && !WRITES.test(source)) return;
  recordNames(shell, source, by);
  for (const path of disk.world.watched('/')) {
    // A ref counts only by its full name, because a topic's words may occur in any text.
    if (!/\/(?:refs\/handoffs|packed-refs|reftable)/.test(path) && source.includes(basename(path)))
      shell.write(path, by);
  }
}
