/** Shell patterns (`*`, `?`, `[…]`), matched without regular expressions, which could take exponential time. */

type Token =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'set'; readonly negated: boolean; readonly body: string };

const CLASSES: Readonly<Record<string, RegExp>> = {
  alpha: /[A-Za-z]/,
  digit: /[0-9]/,
  alnum: /[A-Za-z0-9]/,
  upper: /[A-Z]/,
  lower: /[a-z]/,
  space: /\s/,
  punct: /[!-/:-@[-`{-~]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** Quotes the characters of a literal text that a pattern would read as wildcards. */
export function escapePattern(text: string): string {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

/** Removes the backslashes from a pattern, as bash does with a pattern that matched nothing. */
export function unescapePattern(pattern: string): string {
  return pattern.replace(/\\(.)/gs, '$1');
}

/** Whether a text has characters that pathname expansion acts on. */
export function hasWildcard(text: string): boolean {
  return /[*?[]/.test(text);
}

/** Returns a test of whether a text matches a shell pattern, in which `\` quotes. */
export function patternMatcher(pattern: string): (text: string) => boolean {
  const tokens = compile(pattern);
  return (text) => matchTokens(tokens, text);
}

function matchTokens(tokens: readonly Token[], text: string): boolean {
  let t = 0;
  let i = 0;
  let star = -1;
  let mark = 0;
  while (i < text.length) {
    const token = tokens[t];
    if (token?.kind === 'star') {
      star = t++;
      mark = i;
    } else if (token !== undefined && matchOne(token, text.charAt(i))) {
      t++;
      i++;
    } else if (star >= 0) {
      t = star + 1;
      i = ++mark;
    } else return false;
  }
  while (tokens[t]?.kind === 'star') t++;
  return t === tokens.length;
}

function matchOne(token: Token, char: string): boolean {
  if (token.kind === 'char') return token.char === char;
  return token.kind === 'any' || (token.kind === 'set' && inSet(token.body, char) !== token.negated);
}

function inSet(body: string, char: string): boolean {
  for (let i = 0; i < body.length; i++) {
    const named = body.startsWith('[:', i) ? body.indexOf(':]', i) : -1;
    if (named > 0) {
      if (CLASSES[body.slice(i + 2, named)]?.test(char) === true) return true;
      i = named + 1;
    } else if (body[i + 1] === '-' && i + 2 < body.length) {
      if (char >= body.charAt(i) && char <= body.charAt(i + 2)) return true;
      i += 2;
    } else if (body[i] === char) return true;
  }
  return false;
}

function compile(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '\\' && i + 1 < pattern.length) tokens.push({ kind: 'char', char: pattern.charAt(++i) });
    else if (char === '?') tokens.push({ kind: 'any' });
    else if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (char === '[') {
      const end = setEnd(pattern, i);
      if (end < 0) tokens.push({ kind: 'char', char });
      else {
        const body = pattern.slice(i + 1, end);
        const negated = body.startsWith('!') || body.startsWith('^');
        tokens.push({ kind: 'set', negated, body: unescapePattern(negated ? body.slice(1) : body) });
        i = end;
      }
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

/** Returns the index of the `]` that closes the set opened at `open`, or -1. Looks at 256 characters at most: sets are short. */
function setEnd(pattern: string, open: number): number {
  let i = open + 1;
  if (pattern[i] === '!' || pattern[i] === '^') i++;
  if (pattern[i] === ']') i++;
  for (const limit = Math.min(pattern.length, open + 256); i < limit; i++) {
    if (pattern.startsWith('[:', i)) {
      const end = pattern.indexOf(':]', i);
      if (end > 0 && end < limit) i = end + 1;
    } else if (pattern[i] === '\\') i++;
    else if (pattern[i] === ']') return i;
  }
  return -1;
}
