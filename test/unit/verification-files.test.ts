import { describe, expect, it } from 'vitest';
import { MAX_FILES, importantPaths } from '../../src/domain/verification/named-paths.ts';

const paths = (text: string, top?: string) =>
  importantPaths(text, top).paths.map(({ path, text: named }) => path ?? `unsafe ${named}`);

describe('the files that a note calls important', () => {
  it.each([
    ['- src/a.ts', ['src/a.ts']],
    ['* `src/a.ts`: the login', ['src/a.ts']],
    ['1. src/a.ts - the login', ['src/a.ts']],
    ['- [ ] `src/a.ts`', ['src/a.ts']],
    ['- **`src/a.ts`** and `src/b.ts`', ['src/a.ts', 'src/b.ts']],
    ['- [login](src/login.ts) is the entry', ['src/login.ts']],
    ['src/a.ts', ['src/a.ts']],
    ['- src/a.ts: mind the `y.ts', ['src/a.ts']],
    ['| src/a.ts | the login |', ['src/a.ts']],
    ['- ./src//a.ts', ['src/a.ts']],
    ['- src/', ['src']],
    ['- `src/a.ts:42`, `src/b.ts:1-20` and `src/c.ts#L3-L4`', ['src/a.ts', 'src/b.ts', 'src/c.ts']],
    ['- README.md, then\n- README.md', ['README.md']],
    ['- `my file.txt`', ['my file.txt']],
    ['- `Makefile`', ['Makefile']],
    ['- `app/(auth)/page.tsx`', ['app/(auth)/page.tsx']],
    ['- `grüße/ä.ts`', ['grüße/ä.ts']],
    ['The work is in the parser.', []],
    ['- `refresh()` and `npm run build`', []],
    ['- see https://example.org/a.ts', []],
    ['- `https://example.org/a.ts`', []],
    ['', []],
  ])('%j', (text, expected) => {
    expect(paths(text)).toEqual(expected);
  });

  it.each([
    '../../etc/passwd',
    'src/../../x.ts',
    '/etc/passwd',
    '~/.ssh/id_rsa',
    '.git/config',
    'sub/.GIT/hooks/post-checkout',
    'a\\..\\b.ts',
    'x\u0000.ts',
    'src/\ufffd.ts',
    `${'a/'.repeat(600)}x.ts`,
  ])('nothing outside of the working tree: %j', (text) => {
    expect(paths(`- \`${text}\``)).toEqual([`unsafe ${text}`]);
  });

  it('include an absolute path inside the working tree', () => {
    expect(paths('- `/home/a/repo/src/a.ts`', '/home/a/repo')).toEqual(['src/a.ts']);
    expect(paths('- `/home/a/repo-2/src/a.ts`', '/home/a/repo')).toEqual(['unsafe /home/a/repo-2/src/a.ts']);
    expect(paths('- `/home/a/repo/../x.ts`', '/home/a/repo')).toEqual(['unsafe /home/a/repo/../x.ts']);
  });

  it('never count as missing if they only may be paths', () => {
    const named = importantPaths(
      '- `-rf`\n- `$(id)`\n- `src/*.ts`\n- `Makefile`\n- `a b/c.ts`\n- `src/a`',
    ).paths;
    expect(named.map(({ text, sure }) => [text, sure])).toEqual([
      ['-rf', false],
      ['src/*.ts', false],
      ['Makefile', false],
      ['a b/c.ts', true],
      ['src/a', true],
    ]);
  });

  it('are bounded', () => {
    const many = Array.from({ length: MAX_FILES + 7 }, (_, at) => `- src/${at}.ts`).join('\n');
    expect(importantPaths(many)).toMatchObject({ left: 7, paths: { length: MAX_FILES } });
    expect(importantPaths('`'.repeat(1_000_000)).paths).toEqual([]);
  });
});
