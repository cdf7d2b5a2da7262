import type { ProgramCall, Status } from '../machine.ts';
import { hasOption, optionValues, parseOptions } from '../options.ts';
import { filterInput } from '../output.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';
import { runChildShell } from './shells.ts';

const MAX_TERMS = 16;

interface Token {
  readonly kind: 'string' | 'name' | 'number' | 'newline' | 'mark';
  readonly text: string;
}

/** Splits an awk program into tokens; a `/` where a value may begin opens a regular expression. */
function tokensOf(program: string): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /"((?:[^"\\\n]|\\.)*)"|([A-Za-z_]\w*)|(\d[\w.]*)|#[^\n]*|(\n)|\\\n|[ \t\r]+|(>>|[|&]&?|[<>=!]=?|.)/gs;
  for (let found = pattern.exec(program); found !== null; found = pattern.exec(program)) {
    const [, text, name, number, newline, mark] = found;
    if (text !== undefined) tokens.push({ kind: 'string', text: text.replace(/\\(["\\/])/g, '$1') });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (newline !== undefined) tokens.push({ kind: 'newline', text: newline });
    else if (mark === '/' && opensRegex(tokens.at(-1))) {
      pattern.lastIndex = regexEnd(program, found.index + 1);
      tokens.push({ kind: 'number', text: '/' });
    } else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
  }
  return tokens;
}

function opensRegex(before: Token | undefined): boolean {
  if (before === undefined || before.kind === 'newline') return true;
  return before.kind === 'mark'
    ? !/^[)\]$]$/.test(before.text)
    : before.text === 'return' || before.text === 'print';
}

function regexEnd(program: string, from: number): number {
  for (let i = from; i < program.length; i++) {
    if (program[i] === '\\') i++;
    else if (program[i] === '/' || program[i] === '\n') return i + 1;
  }
  return program.length;
}

/** What an awk program does beside printing: `print > file`, `print | cmd`, `system(cmd)`, `cmd | getline`. */
function readAwkProgram(
  program: string,
  variables: ReadonlyMap<string, readonly string[]>,
): { readonly files: string[]; readonly commands: string[] } {
  const tokens = tokensOf(program);
  const known = new Map(variables);
  const files: string[] = [];
  const commands: string[] = [];
  let printing = false;
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'newline' || (token.kind === 'mark' && /^[;{}]$/.test(token.text))) {
      printing = false;
      depth = 0;
    } else if (token.kind === 'name' && /^printf?$/.test(token.text)) {
      printing = true;
      depth = 0;
    } else if (token.kind === 'name') {
      if (tokens[i + 1]?.text === '=') known.set(token.text, valueAt(tokens, i + 2, known));
      if (token.text === 'system' && tokens[i + 1]?.text === '(')
        commands.push(...valueAt(tokens, i + 2, known));
    } else if (token.kind === 'mark') {
      if (token.text === '(' || token.text === '[') depth++;
      else if (token.text === ')' || token.text === ']') depth--;
      else if (/^>>?$/.test(token.text) && printing && depth <= 0)
        files.push(...valueAt(tokens, i + 1, known));
      else if (/^\|&?$/.test(token.text)) {
        if (printing) commands.push(...valueAt(tokens, i + 1, known));
        else if (tokens[i - 1]?.kind === 'string') commands.push(tokens[i - 1]?.text ?? '');
      }
    }
  }
  return { files, commands };
}

/** The texts that an expression of strings and variables set side by side may come to. */
function valueAt(
  tokens: readonly Token[],
  from: number,
  known: ReadonlyMap<string, readonly string[]>,
): string[] {
  let texts = [''];
  for (let i = from; i < from + MAX_TERMS; i++) {
    const token = tokens[i];
    if (token === undefined || token.kind === 'newline' || /^[;{}),|]$/.test(token.text)) break;
    if (token.kind === 'mark' && (token.text === '(' || token.text === '$')) continue;
    // `ARGV[2]`; of other arrays any element may be meant.
    const index = tokens[i + 1]?.text === '[' && tokens[i + 3]?.text === ']' ? tokens[i + 2] : undefined;
    const values =
      token.kind === 'string'
        ? [token.text]
        : token.kind === 'name'
          ? (known.get(`${token.text} ${index?.text ?? ''}`) ?? known.get(token.text) ?? [UNKNOWN])
          : [UNKNOWN];
    texts = texts.flatMap((text) => values.map((value) => text + value)).slice(0, 64);
    if (index !== undefined) i += 3;
  }
  return texts;
}

/** Awk reads escapes in the values that it is given. */
function unescaped(value: string): string {
  return value.replace(/\\([\\"/nt])/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char);
}

/** Reads the program on its command line; one in a file stays unknown. */
export function awk(call: ProgramCall): Status {
  const { machine, frame } = call;
  const options = parseOptions(call.args, {
    short: 'F:v:f:i:l:e:E:W:m:',
    long: 'field-separator= assign= file= include= load= source= exec=',
    stops: true,
  });
  const hasFile = hasOption(options, 'f', 'file', 'E', 'exec');
  const given = optionValues(options, 'e', 'source');
  const isInline = given.length === 0 && !hasFile;
  const program = isInline ? (options.operands[0] ?? '') : given.join('\n');
  const operands = isInline ? options.operands.slice(1) : options.operands;
  const isAssignment = (word: string) => /^[A-Za-z_]\w*=/.test(word);
  const files = operands.filter((word) => !isAssignment(word));
  const variables = new Map<string, readonly string[]>([['FILENAME', files]]);
  for (const word of [...optionValues(options, 'v', 'assign'), ...operands.filter(isAssignment)]) {
    variables.set(word.slice(0, word.indexOf('=')), [unescaped(word.slice(word.indexOf('=') + 1))]);
  }
  variables.set('ARGV', files);
  for (const [n, word] of operands.entries()) variables.set(`ARGV ${String(n + 1)}`, [word]);
  for (const [, name = ''] of program.matchAll(/\bENVIRON\[\s*"(\w+)"/g)) {
    const variable = frame.scope.lookup(name);
    const value = variable?.exported === true ? machine.value(frame.scope, name) : undefined;
    if (typeof value === 'string') variables.set(`ENVIRON ${name}`, [value]);
  }
  if (hasFile) machine.unsure = true;
  const found = readAwkProgram(program, variables);
  for (const file of found.files) machine.write(frame.scope, file, 'awk >');
  for (const command of found.commands) runChildShell(call, command);
  if (optionValues(options, 'i', 'include').some((name) => /(?:^|\/)inplace(?:\.awk)?$/.test(name))) {
    for (const file of files) machine.write(frame.scope, file, 'awk -i inplace', false);
  }
  frame.output.add(fieldText(program, filterInput(call, files)));
  return undefined;
}

/** What `{print $2}` prints of a known text. */
function fieldText(program: string, text: string): string {
  const field = /^\s*\{\s*print\s+\$(\d+|NF)\s*(?:;\s*)?\}\s*$/.exec(program)?.[1];
  if (field === undefined) return text === '' ? '' : UNKNOWN;
  if (!isKnown(text) && !text.includes('\n')) return UNKNOWN;
  const lines = text.replace(/\n$/, '').split('\n');
  const pick = (line: string) => {
    const words = line.trim().split(/\s+/);
    return field === '0' ? line : field === 'NF' ? words.at(-1) : words[Number(field) - 1];
  };
  return lines.map((line) => `${pick(line) ?? ''}\n`).join('');
}
