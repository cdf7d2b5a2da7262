import fc from 'fast-check';
import { ACTS } from './acts.ts';
import { GAP, HOLE, type Piece, filled, mapped, piece } from './piece.ts';
import { spelled } from './words.ts';
import { BLANKS, WRAPPERS, type Wrapper } from './wrappers.ts';

/** One case, with the parts that it is built from, which a failure reports. */
export interface ShellCase extends Piece {
  readonly wrappers: number;
}

const act: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...ACTS.writes) },
  { weight: 8, arbitrary: fc.constantFrom(...ACTS.looks) },
  { weight: 3, arbitrary: fc.constantFrom(...ACTS.refWrites) },
  { weight: 3, arbitrary: fc.constantFrom(...ACTS.refLooks) },
  { weight: 2, arbitrary: fc.constantFrom(...ACTS.failures) },
  { weight: 1, arbitrary: fc.constantFrom(...ACTS.riddles) },
);

const wrapper: fc.Arbitrary<Wrapper> = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...WRAPPERS.structures) },
  { weight: 9, arbitrary: fc.constantFrom(...WRAPPERS.shells) },
  { weight: 4, arbitrary: fc.constantFrom(...WRAPPERS.carriers) },
  { weight: 2, arbitrary: fc.constantFrom(...WRAPPERS.conditions) },
  { weight: 1, arbitrary: fc.constantFrom(...WRAPPERS.encoders) },
);

/** A command that does one thing to one file, in one of many spellings. */
const simple: fc.Arbitrary<Piece> = fc.tuple(act, spelled).map(([does, { before, word }]) => {
  const command = filled(does, word);
  return does.text.includes(HOLE) ? piece`${before}${command}` : command;
});

/** One or two commands in a row. */
const row: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 5, arbitrary: simple },
  {
    weight: 1,
    arbitrary: fc
      .tuple(simple, fc.constantFrom('\n', '\n\n', '\n# x\n'), simple)
      .map(([one, between, other]) => {
        // After a `cd`, the second command would not find the repository.
        const stays = /\bcd |pushd/.test(one.text) ? piece`:; (${one}\n)` : one;
        const whole = piece`${stays}${between}${other}`;
        return {
          ...whole,
          plainText: `:; (${other.plainText}\n)${between}${one.plainText}`,
          lapses: [...whole.lapses, 'one command takes from the other what it needs'],
        };
      }),
  },
);

/** Commands as a client's shell may get them. */
export const shellCase: fc.Arbitrary<ShellCase> = fc
  .tuple(
    row,
    fc.array(wrapper, { maxLength: 3, size: 'max' }),
    fc.array(fc.constantFrom(...BLANKS), { maxLength: 3 }),
  )
  .map(([innermost, wrappers, blanks]) => {
    const spaced = (from: Piece) => mapped(from, (text) => withBlanks(text, blanks));
    const whole = wrappers.reduce((inner, wrap, depth) => spaced(wrap(inner, depth)), spaced(innermost));
    return { ...whole, wrappers: wrappers.length };
  });

/** Fills a command's gaps with blanks of the given kinds. */
function withBlanks(text: string, blanks: readonly string[]): string {
  let gaps = 0;
  return text.replaceAll(GAP, () => blanks[gaps++ % Math.max(1, blanks.length)] ?? ' ');
}
