import { escapePattern, hasWildcard } from './pattern.ts';

/** A stretch of an expanded word: how much of splitting and globbing still applies to it. */
export type Piece = { readonly text: string; readonly mode: 'quoted' | 'glob' | 'split' } | 'break';

/** A field as literal text and as pattern; `active` when the pattern has wildcards of its own. */
interface Field {
  literal: string;
  pattern: string;
  active: boolean;
}

/** Splits pieces into fields where unquoted expansions hold separators. */
export function splitFields(pieces: readonly Piece[], separators: string): Field[] {
  const fields: Field[] = [];
  let field: Field | undefined;
  const add = (text: string, pattern: string, active: boolean) => {
    field ??= { literal: '', pattern: '', active: false };
    field.literal += text;
    field.pattern += pattern;
    field.active ||= active;
  };
  const close = () => {
    if (field !== undefined) fields.push(field);
    field = undefined;
  };
  for (const piece of pieces) {
    if (piece === 'break') close();
    else if (piece.mode === 'quoted') add(piece.text, escapePattern(piece.text), false);
    else if (piece.mode === 'glob') add(piece.text, piece.text, true);
    else {
      let start = 0;
      for (let i = 0; i <= piece.text.length; i++) {
        const cut = i < piece.text.length && separators.includes(piece.text.charAt(i));
        if (!cut && i < piece.text.length) continue;
        const text = piece.text.slice(start, i);
        if (text !== '') add(text, text, hasWildcard(text));
        if (cut) close();
        start = i + 1;
      }
    }
  }
  close();
  return fields;
}
