import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitNote } from '../../../src/domain/note/sections.ts';
import { anyText } from '../../support/any-text.ts';

describe('a note', () => {
  it.each([
    ['front matter', '---\nto: bob\n---\n# Goal\n', 'to: bob\n', '# Goal\n'],
    ['CRLF', '---\r\nto: bob\r\n---\r\nbody\r\n', 'to: bob\r\n', 'body\r\n'],
    ['a byte order mark', '\uFEFF---\nto: bob\n---\nbody', 'to: bob\n', 'body'],
    ['the end mark of YAML', '---\nto: bob\n...\nbody', 'to: bob\n', 'body'],
    ['blanks after the marks', '--- \t\nto: bob\n---  \nbody', 'to: bob\n', 'body'],
    ['an empty front matter', '---\n---\nbody', '', 'body'],
    ['nothing behind it', '---\nto: bob\n---', 'to: bob\n', ''],
    ['a rule of Markdown in its body', '---\na: 1\n---\nx\n---\ny', 'a: 1\n', 'x\n---\ny'],
  ])('with %s is taken apart', (_what, note, yaml, body) => {
    expect(splitNote(note)).toMatchObject({ yaml, body });
  });

  it.each([
    ['no marks', '# Goal\n'],
    ['a thematic break as its first line', '---\nonly a rule\n'],
    ['marks that are not first', '\n---\nto: bob\n---\n'],
    ['an indented mark', ' ---\nto: bob\n---\n'],
    ['an indented end', '---\nto: bob\n ---\n'],
    ['four dashes', '----\nto: bob\n----\n'],
    ['nothing', ''],
  ])('with %s is all body', (_what, note) => {
    expect(splitNote(note)).toEqual({ head: '', yaml: undefined, body: note });
  });

  it('is its head plus its body, whatever it contains', () => {
    const parts = fc.constantFrom('---\n', '---\r\n', '...\n', '\uFEFF', 'a: 1\n', '--- x\n', '\n');
    fc.assert(
      fc.property(fc.array(fc.oneof(parts, anyText())), (pieces) => {
        const note = pieces.join('');
        const { head, body } = splitNote(note);
        expect(head + body).toBe(note);
      }),
    );
  });
});
