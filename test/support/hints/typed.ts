import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { typedHints } from '../commit-hooks-world.ts';

/** The commands that a refusal tells to type: after `hint:` of a git hook or verb, at the end of the guard's. */
export function hintsIn(text: string): string[] {
  const lines = typedHints(text).filter((hint) => /^(?:git|GIT_INDEX_FILE=\S+ git) /.test(hint));
  if (lines.length > 0) return lines;
  const last = /: ((?:git|rm|xargs) .*)$/s.exec(text)?.[1];
  return last === undefined ? [] : [last];
}

/** What a refusal says besides its hints. */
export function reasonIn(text: string): string {
  return text.replace(/^hint: .*$/gms, '').replace(/: (?:git|rm|xargs) .*$/s, '');
}

/** The paths that a `git handoff take` names, from the top of the working tree. */
export function takenPaths(command: string, cwd: string, top: string): string[] {
  const folder = /\bgit -C (\S+)/.exec(command)?.[1] ?? cwd;
  const list = /--pathspec-from-file=(\S+)/.exec(command)?.[1];
  if (list !== undefined) {
    const names = readFileSync(list, 'utf8').split('\0').filter(Boolean);
    return names.map((name) => name.replace(/^:\(top,literal\)/, ''));
  }
  const words = (/ -- (.*)$/s.exec(command)?.[1] ?? '').match(/'[^']*'|\S+/g) ?? [];
  return words.map((word) => relative(top, resolve(join(folder), word.replaceAll("'", ''))));
}
