import { RegExpParser, type AST } from '@eslint-community/regexpp';

/** The parts of a text that makes an expression backtrack: `prefix` leads to a repetition, which then matches `unit` often. */
export interface Pump {
  readonly prefix: string;
  readonly unit: string;
}

/** Endings of a pumped text. They are of several kinds, so that one of them makes the match fail. */
const ENDS = ['', '\u0001', '\n!', 'x'];

/** Pumps for every repetition in an expression, with samples of the characters that it may repeat. */
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
        // Repeats the whole sequence: an unanchored expression starts at each repetition.
        add('', before.slice(prefix.length));
        break;
      }
      case 'Quantifier':
        if (node.max > 8) {
          for (const unit of samples(node.element)) {
            add(prefix, unit);
            // Adds a character that a preceding repetition may consume.
            add(`${prefix}a`, unit);
          }
          // Repeats the prefix: the expression may continue from each repetition.
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

function sample(node: AST.Node): string {
  return samples(node)[0] ?? '';
}

/** Texts of different kinds that a part of an expression matches. */
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

/** Characters of several kinds that a character class matches. */
function fitting(raw: string): string[] {
  const flags = raw.includes('\\p') || raw.includes('\\u{') ? 'su' : 's';
  const isIn = new RegExp(`^${raw}$`, raw === '.' ? '' : flags);
  return CANDIDATES.filter((one) => isIn.test(one)).slice(0, 6);
}

/**
 * By what factor an expression takes longer, at worst, for a text of eight times the length: 8 for linear time, 64 for
 * quadratic time.
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

/** A factor between 8 (linear time) and 64 (quadratic time). */
export const LIMIT = 24;
/** Milliseconds. Shorter times are too short to measure. */
const NOISE = 0.4;
const LONGEST = 24_000;

function growthOf(expression: RegExp, text: (count: number) => string, width: number): number {
  // First short texts: an expression whose time doubles with every character would never finish a long one.
  for (let count = 4; count * width <= 48 || count <= 12; count += 2) {
    if (isSlow(expression, text(count))) return Infinity;
  }
  // Then each text is twice as long as the last one. The first slow text is compared with an eighth of it.
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
  // Most expressions finish even the longest text too fast to measure.
  if (once < NOISE * LIMIT) return once / NOISE;
  return fastest(expression, long, 3) / Math.max(fastest(expression, short, 3), NOISE);
}

/** The least processor time of several tries, in milliseconds. It does not depend on how busy the machine is. */
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

/** The processor time of this process so far, in milliseconds. */
function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
