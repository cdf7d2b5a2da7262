import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { patchedFiles } from '../../src/domain/patch.ts';

const patch = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');

describe('patchedFiles', () => {
  it('finds every section', () => {
    const text = patch(
      '*** Add File: a b.txt',
      '+first',
      '+second',
      '*** Update File: b.txt',
      '*** Move to: c.txt',
      '@@ class X',
      ' kept',
      '-old',
      '+new',
      '*** End of File',
      '*** Delete File: d.txt',
    );
    expect(patchedFiles(text)).toEqual([
      { path: 'a b.txt', change: 'add', firstLine: 'first' },
      { path: 'b.txt', change: 'update', moveTo: 'c.txt' },
      { path: 'd.txt', change: 'delete' },
    ]);
  });

  it('ignores what surrounds the patch', () => {
    expect(patchedFiles(`<<'EOF'\n${patch('*** Delete File: a')}EOF\n`)).toEqual([
      { path: 'a', change: 'delete' },
    ]);
  });

  it('ignores blanks around a header, and carriage returns', () => {
    const text = patch(' *** Add File: a ', '+<!-- x -->', '\t*** Delete File: b').replaceAll('\n', '\r\n');
    expect(patchedFiles(text)).toEqual([
      { path: 'a', change: 'add', firstLine: '<!-- x -->' },
      { path: 'b', change: 'delete' },
    ]);
  });

  it('never mistakes added or removed lines for headers', () => {
    const text = patch(
      '*** Update File: a',
      '@@',
      '-*** Delete File: b',
      '+*** Add File: c',
      '+*** Move to: d',
    );
    expect(patchedFiles(text)).toEqual([{ path: 'a', change: 'update' }]);
  });

  it('moves a file once: Codex does not treat a second such line as a header', () => {
    const text = patch('*** Update File: a', '*** Move to: b', ' *** Move to: c', '-x', '+y');
    expect(patchedFiles(text)).toEqual([{ path: 'a', change: 'update', moveTo: 'b' }]);
  });

  it('has no first line for an empty file, and an empty one for a blank line', () => {
    expect(patchedFiles(patch('*** Add File: a'))).toEqual([{ path: 'a', change: 'add' }]);
    expect(patchedFiles(patch('*** Add File: a', '+', '+b'))).toEqual([
      { path: 'a', change: 'add', firstLine: '' },
    ]);
  });

  it.each([
    '',
    'no patch',
    '*** Add File:',
    '*** Add File: ',
    '***Add File: a',
    '*** add File: a',
    '*** Move to: a',
  ])('finds nothing in %j', (text) => expect(patchedFiles(text)).toEqual([]));

  it('finds what was put in, whatever the files contain', () => {
    const line = fc.string({ unit: 'binary' }).map((text) => `+${text.replace(/[\r\n]/g, '')}`);
    const name = fc.stringMatching(/^[a-z./]{1,12}$/);
    const section = fc.record({ path: name, lines: fc.array(line, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(section, { maxLength: 5 }), (sections) => {
        const text = patch(...sections.flatMap(({ path, lines }) => [`*** Add File: ${path}`, ...lines]));
        expect(patchedFiles(text)).toEqual(
          sections.map(({ path, lines: [first] }) => ({
            path,
            change: 'add',
            ...(first === undefined ? {} : { firstLine: first.slice(1) }),
          })),
        );
      }),
    );
  });
});
