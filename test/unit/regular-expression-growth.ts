import { RegExpParser, type AST } from '@eslint-community/regexpp';

/** A text that makes an expression try: something that leads to a repetition, then what it repeats, then a refusal. */
export interface Pump {
  readonly prefix: string;
  readonly unit: string;
}

/** What ends a pumped text: nothing fits it, or nearly all does. */
const ENDS = ['', '\u0001', '\n!', 'x'];

/** Pumps for every repetition of an expression, with every choice of characters that its neighbours allow, too. */
export function pumpsOf(source: string, flags: string): Pump[] {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: flags.includes('u') });
  const pumps = new Map<string, Pump>();
  const add = (prefix: string, unit: string) => {
    if (unit !== '') pumps.set(`${prefix}\0${unit}`, { prefix, unit });
  };
  const visit = (node: AST.Node, prefix: string): void => {
    switch (node.type) {
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup':
        for (const alternative of node.alternatives) visit(alternative, prefix);
        break;
      case 'Assertion':
        if ('alternatives' in node) for (const alternative of node.alternatives) visit(alternative, prefix);
        break;
      case 'Alternative': {
        let before = prefix;
        for (const element of node.elements) {
          visit(element, before);
          before += sample(element);
        }
        // The whole of it, again and again: what an unanchored expression begins anew with.
        add('', before.slice(prefix.length));
        break;
      }
      case 'Quantifier':
        if (node.max > 8) {
          for (const unit of samples(node.element)) {
            add(prefix, unit);
            // Behind one more character: the repetition before has taken that and ended.
            add(`${prefix}a`, unit);
          }
          // Its beginning again and again, each of which it goes on from.
          add('', prefix);
        }
        visit(node.element, prefix);
        break;
      default:
    }
  };
  visit(pattern, '');
  for (const { unit } of [...pumps.values()]) add('', unit);
  return [...pumps.values()];
}

/** One text that a part matches. */
function sample(node: AST.Node): string {
  return samples(node)[0] ?? '';
}

/** Some texts that a part matches, each of another kind. */
function samples(node: AST.Node): string[] {
  switch (node.type) {
    case 'Character':
      return [String.fromCodePoint(node.value)];
    case 'CharacterSet':
    case 'CharacterClass':
      return fitting(node.raw);
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.flatMap(({ elements }) => combined(elements)).slice(0, 12);
    case 'Quantifier':
      if (node.max === 0) return [''];
      return node.min === 0
        ? [...samples(node.element), '']
        : samples(node.element).map((one) => one.repeat(node.min));
    default:
      return [''];
  }
}

function combined(elements: readonly AST.Node[]): string[] {
  let texts = [''];
  for (const element of elements)
    texts = texts
      .flatMap((text) =>
        samples(element)
          .slice(0, 3)
          .map((one) => text + one),
      )
      .slice(0, 12);
  return texts;
}

const CANDIDATES = Array.from(' \t\n\ra1Z-_./\\\'"`<>|;&(){}[]=,:*?!$%#~^@+\u0085é😀\u200d\ufe0f\u0000');

/** Characters that a class takes, of several kinds. */
function fitting(raw: string): string[] {
  const flags = raw.includes('\\p') || raw.includes('\\u{') ? 'su' : 's';
  const isIn = new RegExp(`^${raw}$`, raw === '.' ? '' : flags);
  return CANDIDATES.filter((one) => isIn.test(one)).slice(0, 6);
}

/**
 * How much longer an expression takes for a text of eight times the length, at worst: 8 where time is linear, 64 where
 * it is the square. Times too short to measure count as none.
 */
export function growth({ source, flags }: { source: string; flags: string }): {
  ratio: number;
  pump: string;
} {
  let worst = { ratio: 0, pump: '' };
  for (const { prefix, unit } of pumpsOf(source, flags)) {
    for (const end of ENDS) {
      const ratio = growthOf(
        new RegExp(source, flags),
        (count) => prefix + unit.repeat(count) + end,
        unit.length,
      );
      if (ratio > worst.ratio) worst = { ratio, pump: JSON.stringify([prefix, unit, end]) };
      if (worst.ratio > LIMIT) return worst;
    }
  }
  return worst;
}

/** Between the line and the square. */
export const LIMIT = 24;
/** Milliseconds below which a time says nothing. */
const NOISE = 0.4;
/** How many characters a text has at last. */
const LONGEST = 24_000;

function growthOf(expression: RegExp, text: (count: number) => string, width: number): number {
  // In small steps at first: what doubles with every character would never end with a long one.
  for (let count = 4; count * width <= 48 || count <= 12; count += 2) {
    if (isSlow(expression, text(count))) return Infinity;
  }
  // Texts that double: the first that takes long is compared with one of an eighth.
  for (let length = 100; length < LONGEST; length *= 2) {
    const count = Math.ceil(length / width);
    if (isSlow(expression, text(count))) return ratioOf(expression, text(count), text(Math.ceil(count / 8)));
  }
  const count = Math.ceil(LONGEST / width);
  return ratioOf(expression, text(count), text(Math.ceil(count / 8)));
}

function isSlow(expression: RegExp, text: string): boolean {
  return fastest(expression, text, 1) > NOISE * LIMIT && fastest(expression, text, 3) > NOISE * LIMIT;
}

function ratioOf(expression: RegExp, long: string, short: string): number {
  const once = fastest(expression, long, 1);
  // Most are done with the longest text before a time can be told.
  if (once < NOISE * LIMIT) return once / NOISE;
  return fastest(expression, long, 3) / Math.max(fastest(expression, short, 3), NOISE);
}

/** Milliseconds of this process's own computing, the least of several tries: a busy machine does not make it more. */
function fastest(expression: RegExp, text: string, tries: number): number {
  let best = Infinity;
  for (let n = 0; n < tries; n++) {
    expression.lastIndex = 0;
    const from = computed();
    text.replace(expression, '');
    best = Math.min(best, computed() - from);
  }
  return best;
}

/** What this process has computed so far. Milliseconds. */
function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
