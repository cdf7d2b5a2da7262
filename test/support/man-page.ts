/** A section of a man(7) source: its text up to the next section, and its sub-sections by title. */
export interface ManSection {
  readonly text: string;
  readonly parts: ReadonlyMap<string, string>;
}

/** Source text without font changes and escaped hyphens. */
const plain = (text: string) => text.replace(/\\f[BIRP]/g, '').replaceAll('\\-', '-');

function split(text: string, macro: 'SH' | 'SS'): Map<string, string> {
  const parts = text.split(new RegExp(`^\\.${macro} (.*)$`, 'm')).slice(1);
  const found = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) {
    found.set(plain(parts[at] ?? '').replace(/^"(.*)"$/, '$1'), parts[at + 1] ?? '');
  }
  return found;
}

/** The sections of a manual page by title. */
export function manSections(page: string): ReadonlyMap<string, ManSection> {
  const sections = [...split(page, 'SH')];
  return new Map(sections.map(([title, text]) => [title, { text, parts: split(text, 'SS') }]));
}

/** The options that tagged paragraphs (`.TP`) describe: `-m`, `--message`. */
export function manOptions(text: string): string[] {
  const tags = [...plain(text).matchAll(/^\.TP\n(.*)$/gm)].map(([, tag]) => tag ?? '');
  return tags.flatMap((tag) => tag.match(/(?<![\w-])--?[a-zA-Z][a-z-]*/g) ?? []);
}
