import {
  forEachChild,
  parse,
  type CommandExpansionPart,
  type ProcessSubstitutionPart,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { UNKNOWN } from './effects.ts';
import { CommandInput, CommandOutput, type Shell } from './machine.ts';
import { expandParameter, readParameter, setVariable } from './parameters.ts';
import { escapePattern, unescapePattern, hasWildcard } from './pattern.ts';

/** Expands a word of a command to its arguments: braces, parameters, splitting, globs. */
export function expandFields(shell: Shell, word: Word): string[] {
  const { parts } = word;
  if (parts === undefined) return [expandTilde(shell, word.text, word.value)];
  for (const [at, part] of parts.entries()) {
    const texts = part.type === 'BraceExpansion' ? alternatives(part.text) : undefined;
    if (texts === undefined) continue;
    if (texts.length > MAX_ALTERNATIVES) shell.machine.exhausted = true;
    const sourceOf = (some: readonly WordPart[]) => some.map(({ text }) => text).join('');
    const [before, after] = [sourceOf(parts.slice(0, at)), sourceOf(parts.slice(at + 1))];
    return texts.flatMap((text) => expandSource(shell, before + text + after));
  }
  return fieldsOf(shell, word, parts);
}

const PARSE_COST = 64;

/** Expands a word that brace expansion has made. It is parsed again, because its text is new. */
function expandSource(shell: Shell, source: string): string[] {
  if (!shell.machine.spend(source.length + PARSE_COST)) return [];
  const command = parse(`: ${source}`).commands[0]?.command;
  const words = command?.type === 'Command' ? command.suffix : [];
  return words.flatMap((word) => (word.type === 'Word' ? expandFields(shell, word) : []));
}

/** Expands a word to one text, without splitting and globbing: assignments, `case`, here-documents. */
export function expandText(shell: Shell, word: Word): string {
  const parts = word.parts;
  if (parts === undefined) return expandTilde(shell, word.text, word.value);
  return textOf(tildePieces(shell, word, piecesOf(shell, parts)));
}

/** Expands the parts of a here-document's body. */
export function expandBody(shell: Shell, parts: readonly WordPart[]): string {
  return textOf(piecesOf(shell, parts));
}

/** Expands a word to a shell pattern, in which quoted characters stand for themselves. */
export function expandPattern(shell: Shell, word: Word): string {
  if (word.parts === undefined) return escapePattern(expandTilde(shell, word.text, word.value));
  const pieces = piecesOf(shell, word.parts);
  return pieces
    .map((piece) =>
      piece === 'break' ? ' ' : piece.mode === 'quoted' ? escapePattern(piece.text) : piece.text,
    )
    .join('');
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece === 'break' ? ' ' : piece.text)).join('');
}

function fieldsOf(shell: Shell, word: Word, parts: readonly WordPart[]): string[] {
  const pieces = tildePieces(shell, word, piecesOf(shell, parts));
  const fields = splitFields(pieces, shell.text('IFS') ?? ' \t\n');
  if (!fields.some((field) => field.active)) return fields.map((field) => field.literal);
  return fields.flatMap(({ active, literal, pattern }) => {
    if (!active) return [literal];
    const found = shell.machine.disk.glob(pattern.startsWith('/') ? '/' : shell.cwd, pattern);
    return found.length > 0 ? found : [unescapePattern(pattern)];
  });
}

function tildePieces(shell: Shell, word: Word, pieces: Piece[]): Piece[] {
  const first = pieces[0];
  const literal = word.parts?.[0];
  if (!word.text.startsWith('~') || first === undefined || first === 'break' || literal?.type !== 'Literal') {
    return pieces;
  }
  if (pieces.length > 1 && !literal.text.includes('/')) return pieces;
  const text = expandTilde(shell, literal.text, literal.value);
  return [{ text, mode: 'quoted' }, ...pieces.slice(1)];
}

/** Expands a leading tilde-prefix (also after `NAME=`); `source` is the unquoted spelling. */
function expandTilde(shell: Shell, source: string, value: string): string {
  if (!source.includes('~')) return value;
  const [, assigned = '', user] = /^([A-Za-z_]\w*=)?~([\w.+-]*)(?=\/|$)/.exec(source) ?? [];
  if (user === undefined || !value.startsWith(`${assigned}~${user}`)) return value;
  return assigned + tildeFolder(shell, user) + value.slice(assigned.length + 1 + user.length);
}

function tildeFolder(shell: Shell, user: string): string {
  if (user === '') return shell.text('HOME') ?? shell.machine.disk.world.home;
  const name = user === '+' ? 'PWD' : user === '-' ? 'OLDPWD' : undefined;
  return (name === undefined ? undefined : shell.text(name)) ?? UNKNOWN;
}

function piecesOf(shell: Shell, parts: readonly WordPart[], quoted = false): Piece[] {
  const pieces: Piece[] = [];
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        pieces.push({ text: part.value, mode: 'quoted' });
        break;
      case 'DoubleQuoted':
      case 'LocaleString':
        pieces.push({ text: '', mode: 'quoted' });
        for (const piece of piecesOf(shell, part.parts, true)) pieces.push(piece);
        break;
      case 'ExtendedGlob':
        pieces.push({ text: UNKNOWN, mode: 'quoted' });
        break;
      case 'Glob':
        pieces.push({ text: part.text, mode: 'glob' });
        break;
      case 'BraceExpansion':
        pieces.push({ text: part.text, mode: 'quoted' });
        break;
      case 'SimpleExpansion':
      case 'ParameterExpansion':
        pushList(
          pieces,
          parameterOf(shell, part, quoted).map((text) => shell.machine.expanded(text)),
          quoted,
        );
        break;
      case 'CommandExpansion':
        pieces.push({ text: substitute(shell, part), mode: quoted ? 'quoted' : 'split' });
        break;
      case 'ArithmeticExpansion':
        runExpression(shell, part.expression);
        pieces.push({ text: UNKNOWN, mode: 'quoted' });
        break;
      case 'ProcessSubstitution':
        pieces.push({ text: processFile(shell, part), mode: 'quoted' });
    }
  }
  return pieces;
}

type Parameter = Extract<WordPart, { type: 'SimpleExpansion' | 'ParameterExpansion' }>;

function parameterOf(shell: Shell, part: Parameter, quoted: boolean): readonly string[] {
  if (part.type === 'ParameterExpansion') return expandParameter(shell, part, quoted);
  const values = readParameter(shell, part.text.replace(/\\\n/g, '').slice(1), undefined) ?? [''];
  return part.text === '$*' && quoted ? [values.join(' ')] : values;
}

/** Pushes a list of values (`"$@"`), each as a field of its own. */
function pushList(pieces: Piece[], values: readonly string[], quoted: boolean): void {
  if (values.length === 0 && quoted && pieces.length === 1) pieces.pop();
  for (const [index, text] of values.entries()) {
    if (index > 0) pieces.push('break');
    pieces.push({ text, mode: quoted ? 'quoted' : 'split' });
  }
}

/**
 * Runs the command substitutions inside arithmetic or a test, at any depth of the tree. Nothing is calculated, so the
 * variables that an expression assigns (`i = 1`, `i += 2`, `i++`) are unknown afterwards.
 */
export function runExpression(shell: Shell, root: SyntaxNode | undefined): void {
  const open = root === undefined ? [] : [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion') {
      substitute(shell, node);
      continue;
    }
    const target = assigned(node);
    if (target?.type === 'ArithmeticWord' && /^[A-Za-z_]\w*$/.test(target.value))
      setVariable(shell, target.value, UNKNOWN, '((');
    forEachChild(node, (child) => open.push(child));
  }
}

function assigned(node: SyntaxNode): SyntaxNode | undefined {
  if (node.type === 'ArithmeticUnary') return /^(?:\+\+|--)$/.test(node.operator) ? node.operand : undefined;
  const isAssignment = node.type === 'ArithmeticBinary' && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator);
  return isAssignment ? node.left : undefined;
}

type Substitution = Pick<CommandExpansionPart, 'text' | 'script'>;

/** Returns what a command substitution prints, without trailing newlines. */
function substitute(shell: Shell, part: Substitution): string {
  const text = captured(shell, part, shell.input).text;
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end--;
  const known = text.slice(0, end);
  // `find`, for example, may print more than the one line that we know, but usually does not.
  const isOne = known.endsWith(`\n${UNKNOWN}`) && known.indexOf('\n') === known.length - 2;
  return isOne ? known.slice(0, -2) : known;
}

/** Returns the path of a process substitution. Runs its commands; what `<( … )` prints becomes the file's text. */
function processFile(shell: Shell, part: ProcessSubstitutionPart): string {
  const input = part.operator === '<' ? shell.input : new CommandInput(UNKNOWN);
  const path = `/dev/fd/${part.pos}`;
  shell.machine.disk.setText(path, captured(shell, part, input));
  return path;
}

function captured(shell: Shell, part: Substitution, input: CommandInput): CommandOutput {
  const { machine } = shell;
  const output = new CommandOutput();
  if (!machine.spend(part.text.length)) return output;
  const script = part.script;
  machine.depth++;
  if (script?.errors?.some((error) => error.message.includes('nesting depth'))) machine.exhausted = true;
  if (script !== undefined)
    machine.runner.statements(shell.subshell().with({ input, output }), script.commands);
  machine.depth--;
  return output;
}

/** A stretch of an expanded word, with the splitting and globbing that still apply to it. */
type Piece = { readonly text: string; readonly mode: 'quoted' | 'glob' | 'split' } | 'break';

/** A field as literal text and as a pattern; `active` when the pattern has unquoted wildcards. */
interface Field {
  literal: string;
  pattern: string;
  active: boolean;
}

/** Splits pieces into fields at the separators in unquoted expansions. */
function splitFields(pieces: readonly Piece[], separators: string): Field[] {
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

/** The most words that one brace expansion makes. */
const MAX_ALTERNATIVES = 1024;

/** Returns the texts that `{…}` expands to, in order; `undefined` when bash leaves it as it is. */
function alternatives(braces: string): string[] | undefined {
  const inner = braces.slice(1, -1);
  const texts: string[] = [];
  let text = '';
  let depth = 0;
  for (const token of inner.match(/\\.|'[^']*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|./gs) ?? []) {
    if (token === '{' || token === '(') depth++;
    if (token === '}' || token === ')') depth--;
    if (token !== ',' || depth > 0) text += token;
    else {
      texts.push(text);
      text = '';
    }
  }
  return texts.length > 0 ? [...texts, text] : range(inner);
}

/** Returns the words of a sequence (`1..9`, `a..e`, `01..10..3`); `undefined` when the text is not a sequence. */
function range(text: string): string[] | undefined {
  const found = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  const [, from = '', to = '', step] = found ?? [];
  const letters = /[A-Za-z]/.test(from);
  if (found === null || letters !== /[A-Za-z]/.test(to)) return undefined;
  const number = (word: string) => (letters ? word.charCodeAt(0) : Number(word));
  const by = Math.max(1, Math.abs(Number(step ?? 1))) * (number(from) <= number(to) ? 1 : -1);
  const width = /^-?0\d|^-?0$/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const words: string[] = [];
  for (let n = number(from); by > 0 ? n <= number(to) : n >= number(to); n += by) {
    words.push(letters ? String.fromCharCode(n) : String(n).padStart(width, '0'));
    if (words.length > MAX_ALTERNATIVES) return words;
  }
  return words;
}
