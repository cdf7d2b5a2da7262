import { UNKNOWN } from '../unknown.ts';
import { tokenize, type Token } from './tokens.ts';
import { splitAt, textsOf, type Bindings, type Surroundings } from './values.ts';

const MAX_ARGUMENT_TOKENS = 2000;
/** Tokens looked at over and over again, before the rest of the code counts as not understood. */
const MAX_WORK = 40_000;
const MAX_VALUES = 64;
const STATEMENT_END = /^(?:;|:|,|and|or|if|unless|do)$/;
const CALL_END = /^(?:;|and|or|if|unless|do|\|\|)$/;

/** A program's tokens, and what its variables may hold. */
export class SourceText {
  readonly tokens: readonly Token[];
  /** Folders that the program changes to. */
  readonly folders = new Set<string>();
  readonly #world: Surroundings;
  readonly #bindings: Bindings = new Map();
  readonly #functions = new Map<string, readonly string[]>();
  /** Index after the bracket that closes the one at an index. */
  readonly #closings: ReadonlyMap<number, number>;
  #work = MAX_WORK;

  constructor(code: string, world: Surroundings) {
    this.tokens = tokenize(code, world.language);
    this.#world = world;
    this.#closings = closingsOf(this.tokens);
    for (let i = 0; i < this.tokens.length && this.isComplete; i++) this.#bind(i);
  }

  /** False when the code was too large or too nested to be read to its end. */
  get isComplete(): boolean {
    return this.#work >= 0;
  }

  /** The texts that an expression may come to. */
  texts(range: readonly Token[]): readonly string[] {
    this.#work -= range.length + 1;
    if (!this.isComplete) return [UNKNOWN];
    const texts = textsOf(range, this.#bindings, this.#world);
    for (const text of texts) this.#work -= text.length >> 6;
    return texts;
  }

  /** The arguments of the call whose name stands at an index; Perl and Ruby need no parentheses. */
  argumentsOf(at: number): Token[][] | undefined {
    const { language } = this.#world;
    let range: readonly Token[];
    if (isMark(this.tokens[at + 1], '(')) range = this.#inside(at + 1);
    else if (language === 'perl' || language === 'ruby') range = this.#upTo(at + 1, CALL_END);
    else return undefined;
    this.#work -= range.length >> 4;
    return splitAt(range, (token) => isMark(token, ',') || isMark(token, '=>')).filter(
      (arg) => arg.length > 0,
    );
  }

  /** The tokens of what a method is called on, backwards from its name. */
  receiver(at: number): readonly Token[] {
    let start = at - 1;
    if (!isMark(this.tokens[start], '.')) return [];
    for (let depth = 0; start > 0 && at - start < MAX_ARGUMENT_TOKENS; start--) {
      const token = this.tokens[start - 1];
      if (token === undefined) break;
      if (token.kind === 'mark' && ')]}'.includes(token.text)) depth++;
      else if (token.kind === 'mark' && '([{'.includes(token.text)) {
        if (--depth < 0) break;
      } else if (depth === 0 && !continuesChain(token)) break;
    }
    return this.tokens.slice(start, at - 1);
  }

  #inside(open: number): readonly Token[] {
    const end = this.#closings.get(open) ?? this.tokens.length;
    return this.tokens.slice(open + 1, Math.min(end - 1, open + MAX_ARGUMENT_TOKENS));
  }

  /** The tokens up to the end of a statement or call, outside brackets. */
  #upTo(from: number, stop: RegExp): readonly Token[] {
    let end = from;
    while (end < this.tokens.length && end - from < MAX_ARGUMENT_TOKENS) {
      const token = this.tokens[end];
      if (token === undefined || token.kind === 'newline') break;
      if (token.kind === 'mark' && ')]}'.includes(token.text)) break;
      if (token.kind !== 'string' && stop.test(token.text)) break;
      end = this.#closings.get(end) ?? end + 1;
    }
    return this.tokens.slice(from, Math.min(end, from + MAX_ARGUMENT_TOKENS));
  }

  #expression(from: number): readonly string[] {
    return this.texts(this.#upTo(from, STATEMENT_END));
  }

  /** Remembers what a variable may hold: `x = …`, `for x in …`, `f(x)` for its parameter. */
  #bind(i: number): void {
    const token = this.tokens[i];
    if (token?.kind !== 'name') return;
    const name = token.text.replace(/^[$@%]/, '');
    const next = this.tokens[i + 1]?.text;
    if (name === 'chdir') for (const text of this.#expression(i + 1)) this.folders.add(text);
    if (next === '(') this.#bindArguments(i);
    if (next === '=' || next === ':=' || next === 'in' || next === 'of')
      this.#add(name, this.#expression(i + 2));
    else if (next === '+=' || next === '.=') {
      const tails = this.#expression(i + 2);
      const heads = this.#bindings.get(name) ?? [''];
      this.#add(
        name,
        heads.flatMap((head) => tails.map((tail) => head + tail)),
      );
    } else if (name === 'as' && this.#world.language === 'php') {
      this.#add((next ?? '').replace(/^\$/, ''), this.texts(this.tokens.slice(i - 1, i)));
    } else if (/^for(?:each)?$/.test(name) && this.#world.language === 'perl') this.#bindLoop(i + 1);
    else if (/^(?:forEach|map|each|for_each)$/.test(name)) this.#bindParameter(i);
  }

  /** Perl's `for my $f (…)`, or `for (…)` with `$_`. */
  #bindLoop(from: number): void {
    let at = this.tokens[from]?.text === 'my' ? from + 1 : from;
    const variable = this.tokens[at];
    if (variable?.kind === 'name') at++;
    this.#add(
      variable?.kind === 'name' ? variable.text.replace(/^\$/, '') : '_',
      this.texts(this.#inside(at)),
    );
  }

  /** Parameters of a function of this code may hold what any later call of it passes. */
  #bindArguments(i: number): void {
    const name = this.tokens[i]?.text ?? '';
    const isDefinition = /^(?:def|function|func)$/.test(this.tokens[i - 1]?.text ?? '');
    const known = this.#functions.get(name);
    if (!isDefinition && known === undefined) return;
    const parts = splitAt(this.#inside(i + 1), (token) => isMark(token, ','));
    const names = parts.map((part) => (part[0]?.text ?? '').replace(/^[$@%]/, ''));
    if (isDefinition) this.#functions.set(name, names);
    else
      for (const [n, parameter] of (known ?? []).entries()) this.#add(parameter, this.texts(parts[n] ?? []));
  }

  /** `[…].forEach(x => …)`, `[…].each { |x| … }`. */
  #bindParameter(i: number): void {
    const near = this.tokens.slice(i + 1, i + 6);
    const parameter = near.find(
      ({ kind, text }) => kind === 'name' && text !== 'async' && text !== 'function',
    );
    if (parameter !== undefined) this.#add(parameter.text, this.texts(this.receiver(i)));
  }

  #add(name: string, texts: readonly string[]): void {
    const before = this.#bindings.get(name) ?? [];
    this.#work -= before.length;
    this.#bindings.set(name, [...new Set([...before, ...texts])].slice(0, MAX_VALUES));
  }
}

/** Whether a token is a mark with this text. */
export function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}

/** Whether a token may stand before a dot of the same expression. */
function continuesChain({ kind, text }: Token): boolean {
  if (kind === 'mark') return text === '.';
  if (kind !== 'name') return kind !== 'newline';
  return !/^(?:return|await|my|const|let|var|print|in|of|and|or|not)$/.test(text);
}

function closingsOf(tokens: readonly Token[]): Map<number, number> {
  const closings = new Map<number, number>();
  const open: number[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'mark') continue;
    if ('([{'.includes(token.text)) open.push(i);
    else if (')]}'.includes(token.text)) {
      const start = open.pop();
      if (start !== undefined) closings.set(start, i + 1);
    }
  }
  for (const start of open) closings.set(start, tokens.length);
  return closings;
}
