import { patternMatcher } from './pattern.ts';

/**
 * Tells without git which paths its pathspecs cover (gitglossary(7)): names and folders, wildcards, `:/`, `:!` and
 * their long forms. An unknown form (`:(attr:…)`) covers everything.
 */

interface Pathspec {
  readonly excludes: boolean;
  readonly covers: (path: string) => boolean;
}

/**
 * Makes a predicate of pathspecs that are typed in a folder.
 *
 * @param folder that folder's path from the top of the working tree; empty at the top
 * @returns a predicate of paths from the top
 */
export function pathspecMatcher(words: readonly string[], folder: string): (path: string) => boolean {
  const specs = words.map((word) => parsePathspec(word, folder));
  const included = specs.filter(({ excludes }) => !excludes);
  const excluded = specs.filter(({ excludes }) => excludes);
  return (path) =>
    (included.length === 0 || included.some(({ covers }) => covers(path))) &&
    !excluded.some(({ covers }) => covers(path));
}

function parsePathspec(word: string, folder: string): Pathspec {
  const long = /^:\(([^)]*)\)(.*)$/s.exec(word);
  if (long !== null) return longForm((long[1] ?? '').split(','), long[2] ?? '', folder);
  const short = /^:([/!^]+):?(.*)$/s.exec(word);
  if (short === null)
    return { excludes: false, covers: word === ':' ? always : matcher(word, folder, false) };
  const magic = short[1] ?? '';
  const excludes = /[!^]/.test(magic);
  return { excludes, covers: matcher(short[2] ?? '', magic.includes('/') ? '' : folder, false) };
}

const always = () => true;

function longForm(magic: readonly string[], rest: string, folder: string): Pathspec {
  const excludes = magic.includes('exclude');
  const isKnown = magic.every((name) => /^(?:top|exclude|literal|glob|)$/.test(name));
  // An unknown exclusion excludes nothing, because to exclude too little is safe.
  if (!isKnown) return { excludes: false, covers: always };
  const base = magic.includes('top') ? '' : folder;
  return { excludes, covers: matcher(rest, base, magic.includes('literal')) };
}

function matcher(text: string, folder: string, isLiteral: boolean): (path: string) => boolean {
  const full = normalised(folder === '' || text.startsWith('/') ? text : `${folder}/${text}`);
  const isNamed = (path: string) => full === '' || path === full || path.startsWith(`${full}/`);
  if (isLiteral || !/[*?[\\]/.test(full)) return isNamed;
  const matches = patternMatcher(full);
  return (path) => isNamed(path) || matches(path);
}

/** Removes `.` and `..`. A `..` at the top is dropped. */
function normalised(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
