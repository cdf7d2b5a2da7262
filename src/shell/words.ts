import {
  forEachChild,
  parse,
  type ArithmeticExpansionPart,
  type CommandExpansionPart,
  type ProcessSubstitutionPart,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { UNKNOWN } from './effects.ts';
import { CommandInput, CommandOutput, type Frame, type ShellMachine } from './machine.ts';
import { assignArithmetic, expandParameter, readParameter } from './parameters.ts';
import { escapePattern, unescapePattern, hasWildcard } from './pattern.ts';

/** Expands a word of a command to its arguments: braces, parameters, splitting, globs. */
export function expandFields(machine: ShellMachine, word: Word, frame: Frame): string[] {
  const parts = word.parts;
  if (parts === undefined) return [expandTilde(machine, word.text, word.value, frame)];
  if (!parts.some((part) => part.type === 'BraceExpansion')) return fieldsOf(machine, word, parts, frame);
  const texts = expandBraces(word.text);
  if (texts === undefined) machine.exhausted = true;
  if (texts === undefined || texts.length < 2) return fieldsOf(machine, word, parts, frame);
  return texts.flatMap((text) => {
    if (!machine.spend(text.length)) return [];
    const command = parse(`: ${text}`).commands[0]?.command;
    const found = command?.type === 'Command' ? command.suffix : [];
    return found.flatMap((part) =>
      part.type === 'Word' ? fieldsOf(machine, part, part.parts ?? [], frame, part.value) : [],
    );
  });
}

/** Expands a word to one text, without splitting and globbing: assignments, `case`, here-documents. */
export function expandText(machine: ShellMachine, word: Word, frame: Frame): string {
  const parts = word.parts;
  if (parts === undefined) return expandTilde(machine, word.text, word.value, frame);
  return textOf(tildePieces(machine, word, piecesOf(machine, parts, frame), frame));
}

/** Expands the parts of a here-document's body. */
export function expandBody(machine: ShellMachine, parts: readonly WordPart[], frame: Frame): string {
  return textOf(piecesOf(machine, parts, frame));
}

/** Expands a word to a shell pattern, in which quoted characters stand for themselves. */
export function expandPattern(machine: ShellMachine, word: Word, frame: Frame): string {
  if (word.parts === undefined) return escapePattern(expandTilde(machine, word.text, word.value, frame));
  const pieces = piecesOf(machine, word.parts, frame);
  return pieces
    .map((piece) =>
      piece === 'break' ? ' ' : piece.mode === 'quoted' ? escapePattern(piece.text) : piece.text,
    )
    .join('');
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece === 'break' ? ' ' : piece.text)).join('');
}

function fieldsOf(
  machine: ShellMachine,
  word: Word,
  parts: readonly WordPart[],
  frame: Frame,
  value = '',
): string[] {
  if (parts.length === 0) return [expandTilde(machine, word.text, value, frame)];
  const pieces = tildePieces(machine, word, piecesOf(machine, parts, frame), frame);
  const fields = splitFields(pieces, machine.text(frame.scope, 'IFS') ?? ' \t\n');
  if (!fields.some((field) => field.active)) return fields.map((field) => field.literal);
  return fields.flatMap(({ active, literal, pattern }) => {
    if (!active) return [literal];
    const found = machine.disk.glob(pattern.startsWith('/') ? '/' : machine.cwd(frame.scope), pattern);
    return found.length > 0 ? found : [unescapePattern(pattern)];
  });
}

function tildePieces(machine: ShellMachine, word: Word, pieces: Piece[], frame: Frame): Piece[] {
  const first = pieces[0];
  const literal = word.parts?.[0];
  if (!word.text.startsWith('~') || first === undefined || first === 'break' || literal?.type !== 'Literal') {
    return pieces;
  }
  if (pieces.length > 1 && !literal.text.includes('/')) return pieces;
  const text = expandTilde(machine, literal.text, literal.value, frame);
  return [{ text, mode: 'quoted' }, ...pieces.slice(1)];
}

/** Expands a leading tilde-prefix (also after `NAME=`); `source` is the unquoted spelling. */
function expandTilde(machine: ShellMachine, source: string, value: string, frame: Frame): string {
  if (!source.includes('~')) return value;
  const [, assigned = '', user] = /^([A-Za-z_]\w*=)?~([\w.+-]*)(?=\/|$)/.exec(source) ?? [];
  if (user === undefined || !value.startsWith(`${assigned}~${user}`)) return value;
  return assigned + tildeFolder(machine, user, frame) + value.slice(assigned.length + 1 + user.length);
}

function tildeFolder(machine: ShellMachine, user: string, { scope }: Frame): string {
  if (user === '') return machine.text(scope, 'HOME') ?? machine.disk.world.home;
  const name = user === '+' ? 'PWD' : user === '-' ? 'OLDPWD' : undefined;
  return (name === undefined ? undefined : machine.text(scope, name)) ?? UNKNOWN;
}

function piecesOf(machine: ShellMachine, parts: readonly WordPart[], frame: Frame, quoted = false): Piece[] {
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
        pieces.push(...piecesOf(machine, part.parts, frame, true));
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
          parameterOf(machine, part, frame, quoted).map((text) => machine.expanded(text)),
          quoted,
        );
        break;
      case 'CommandExpansion':
        pieces.push({ text: substitute(machine, part, frame), mode: quoted ? 'quoted' : 'split' });
        break;
      case 'ArithmeticExpansion':
        pieces.push({ text: arithmetic(machine, part, frame), mode: 'quoted' });
        break;
      case 'ProcessSubstitution':
        pieces.push({ text: processFile(machine, part, frame), mode: 'quoted' });
    }
  }
  return pieces;
}

type Parameter = Extract<WordPart, { type: 'SimpleExpansion' | 'ParameterExpansion' }>;

function parameterOf(
  machine: ShellMachine,
  part: Parameter,
  frame: Frame,
  quoted: boolean,
): readonly string[] {
  if (part.type === 'ParameterExpansion') return expandParameter(machine, part, frame, quoted);
  const values = readParameter(machine, part.text.replace(/\\\n/g, '').slice(1), undefined, frame) ?? [''];
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

/** Expands arithmetic to an unknown text, because nothing is calculated. */
function arithmetic(machine: ShellMachine, { expression }: ArithmeticExpansionPart, frame: Frame): string {
  if (expression !== undefined) {
    runEmbedded(machine, expression, frame);
    assignArithmetic(machine, expression, frame.scope);
  }
  return UNKNOWN;
}

/** Runs the command substitutions inside arithmetic or a test, at any depth of the tree. */
export function runEmbedded(machine: ShellMachine, root: SyntaxNode, frame: Frame): void {
  const open: SyntaxNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type === 'CommandExpansion' || node.type === 'ArithmeticCommandExpansion')
      substitute(machine, node, frame);
    else forEachChild(node, (child) => open.push(child));
  }
}

type Substitution = Pick<CommandExpansionPart, 'text' | 'script'>;

/** Returns what a command substitution prints, without trailing newlines. */
function substitute(machine: ShellMachine, part: Substitution, frame: Frame): string {
  const text = captured(machine, part, frame, frame.input).text;
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end--;
  const known = text.slice(0, end);
  // `find`, for example, may print more than the one line that is known, but mostly does not.
  const isOne = known.endsWith(`\n${UNKNOWN}`) && known.indexOf('\n') === known.length - 2;
  return isOne ? known.slice(0, -2) : known;
}

/** Returns the path of a process substitution. Runs its commands; what `<( … )` prints becomes the file's text. */
function processFile(machine: ShellMachine, part: ProcessSubstitutionPart, frame: Frame): string {
  const input = part.operator === '<' ? frame.input : new CommandInput(UNKNOWN);
  const path = `/dev/fd/${part.pos}`;
  machine.disk.setText(path, captured(machine, part, frame, input));
  return path;
}

function captured(
  machine: ShellMachine,
  part: Substitution,
  frame: Frame,
  input: CommandInput,
): CommandOutput {
  const output = new CommandOutput();
  if (!machine.spend(part.text.length)) return output;
  const script = part.script;
  machine.depth++;
  if (script?.errors?.some((error) => error.message.includes('nesting depth'))) machine.exhausted = true;
  if (script !== undefined) {
    machine.run.statements(machine, script.commands, { scope: frame.scope.layer(), input, output });
  }
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

/** Brace expansion on the text of a word (bash expands braces before anything else), in one pass. */

const MAX_WORDS = 1024;
const MAX_CHARACTERS = 1 << 18;

interface Group {
  readonly start: number;
  /** The finished alternatives, each as the texts that it stands for. */
  readonly done: string[][];
  current: string[];
}

/** Returns the words that brace expansion makes of a word, in order; `undefined` when they are too many or too long. */
function expandBraces(text: string): string[] | undefined {
  const groups: Group[] = [{ start: 0, done: [], current: [''] }];
  let literal = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    const group = groups.at(-1);
    if (group === undefined) return undefined;
    if (char === '\\') i++;
    else if (char === "'" || char === '"' || char === '`') i = closingQuote(text, i, char);
    else if (char === '$' && (text[i + 1] === '{' || text[i + 1] === '(')) i = closingParen(text, i + 1);
    else if (char === '{' || (groups.length > 1 && (char === ',' || char === '}'))) {
      if (!append(group, [text.slice(literal, i)])) return undefined;
      literal = i + 1;
      if (char === '{') groups.push({ start: i, done: [], current: [''] });
      else if (char === ',') {
        group.done.push(group.current);
        group.current = [''];
      } else {
        groups.pop();
        const parent = groups.at(-1);
        if (parent === undefined || !append(parent, alternatives(group))) return undefined;
      }
    }
  }
  return finish(groups, text, literal);
}

function finish(groups: readonly Group[], text: string, literal: number): string[] | undefined {
  const [outer, unclosed] = groups;
  if (outer === undefined) return undefined;
  const rest = unclosed === undefined ? text.slice(literal) : text.slice(unclosed.start);
  return append(outer, [rest]) ? outer.current : undefined;
}

function alternatives(group: Group): string[] {
  if (group.done.length > 0) return [...group.done, group.current].flat();
  const only = group.current.length === 1 ? group.current[0] : undefined;
  return (only === undefined ? undefined : range(only)) ?? group.current.map((text) => `{${text}}`);
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
    if (words.length > MAX_WORDS) return words;
  }
  return words;
}

/** Appends every ending to every text of a group. Returns false when the result is too large. */
function append(group: Group, endings: readonly string[]): boolean {
  if (endings.length === 1 && endings[0] === '') return true;
  if (group.current.length * endings.length > MAX_WORDS) return false;
  group.current = group.current.flatMap((text) => endings.map((ending) => text + ending));
  return group.current.length * (group.current[0]?.length ?? 0) <= MAX_CHARACTERS;
}

function closingQuote(text: string, open: number, quote: string): number {
  for (let i = open + 1; i < text.length; i++) {
    if (text[i] === '\\' && quote !== "'") i++;
    else if (text[i] === quote) return i;
  }
  return text.length;
}

function closingParen(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '\\') i++;
    else if (char === "'" || char === '"') i = closingQuote(text, i, char);
    else if (char === '(' || char === '{') depth++;
    else if ((char === ')' || char === '}') && --depth === 0) return i;
  }
  return text.length;
}
