import { RegExpParser, type AST } from '@eslint-community/regexpp';

/** A text that makes an expression backtrack: what leads to a repetition, then what it repeats, then what does not match. */
export interface Pump {
  readonly prefix: string;
  readonly unit: string;
}

/** Endings of a pumped text: some match nothing, some nearly everything. */
const ENDS = ['', '\u0001', '\n!', 'x'];

/** Pumps for every repetition in an expression, including every choice of characters that its neighbours allow. */
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
        // The whole sequence repeatedly, on which an unanchored expression starts again and again.
        add('', before.slice(prefix.length));
        break;
      }
      case 'Quantifier':
        if (node.max > 8) {
          for (const unit of samples(node.element)) {
            add(prefix, unit);
            // After one more character, which a preceding repetition has consumed.
            add(`${prefix}a`, unit);
          }
          // Its beginning repeatedly, from each of which it may continue.
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

/** Some texts of different kinds that a part matches. */
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

/** Characters of several kinds that a class matches. */
function fitting(raw: string): string[] {
  const flags = raw.includes('\\p') || raw.includes('\\u{') ? 'su' : 's';
  const isIn = new RegExp(`^${raw}$`, raw === '.' ? '' : flags);
  return CANDIDATES.filter((one) => isIn.test(one)).slice(0, 6);
}

/**
 * How many times longer an expression takes, at worst, for a text of eight times the length: 8 for linear time, 64 for
 * quadratic. Times too short to measure count as none.
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

/** Between linear and quadratic. */
export const LIMIT = 24;
/** Times below this many milliseconds mean nothing. */
const NOISE = 0.4;
/** The length of the longest text. */
const LONGEST = 24_000;

function growthOf(expression: RegExp, text: (count: number) => string, width: number): number {
  // In small steps at first: an expression whose time doubles with every character would never finish a long text.
  for (let count = 4; count * width <= 48 || count <= 12; count += 2) {
    if (isSlow(expression, text(count))) return Infinity;
  }
  // Then texts of doubling length: the first slow one is compared with a text of an eighth of its length.
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
  // Most finish even the longest text too fast to measure.
  if (once < NOISE * LIMIT) return once / NOISE;
  return fastest(expression, long, 3) / Math.max(fastest(expression, short, 3), NOISE);
}

/** The least processor time, in milliseconds, of several tries, which does not depend on how busy the machine is. */
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
