import { describe, expect, it } from 'vitest';
import { pathspecMatcher } from '../../../src/shell/options.ts';

const PATHS = [
  'a.ts',
  'src/a.ts',
  'src/deep/b.ts',
  'app/[id]/page.tsx',
  'app/i/page.tsx',
  '-odd',
  'shared.md',
];
const covered = (words: string, folder = '') => PATHS.filter(pathspecMatcher(words.split(' '), folder));

describe('pathspecMatcher', () => {
  it.each([
    ['.', '', PATHS],
    [':/', 'src', PATHS],
    [':', 'src', PATHS],
    ['.', 'src', ['src/a.ts', 'src/deep/b.ts']],
    ['src', '', ['src/a.ts', 'src/deep/b.ts']],
    ['src/', '', ['src/a.ts', 'src/deep/b.ts']],
    ['./src/../a.ts', '', ['a.ts']],
    ['..', 'src', PATHS],
    ['../a.ts', 'src', ['a.ts']],
    ['a.ts', 'src', ['src/a.ts']],
    [':/a.ts', 'src', ['a.ts']],
    ['sr', '', []],
    ['*.ts', '', ['a.ts', 'src/a.ts', 'src/deep/b.ts']],
    ['src/*.ts', '', ['src/a.ts', 'src/deep/b.ts']],
    ['app/[id]/page.tsx', '', ['app/[id]/page.tsx', 'app/i/page.tsx']],
    [':(literal)app/[id]/page.tsx', '', ['app/[id]/page.tsx']],
    [':(top)src', 'app', ['src/a.ts', 'src/deep/b.ts']],
    [':(top,literal)a.ts', 'src', ['a.ts']],
    ['. :!shared.md', '', PATHS.filter((path) => path !== 'shared.md')],
    [':^src :!app', '', ['a.ts', '-odd', 'shared.md']],
    [':(exclude)src', '', PATHS.filter((path) => !path.startsWith('src/'))],
    [':!/a.ts', 'src', PATHS.filter((path) => path !== 'a.ts')],
    [':(attr:x)src', '', PATHS],
    ['-odd', '', ['-odd']],
  ])('%s in "%s"', (words, folder, expected) => {
    expect(covered(words, folder)).toEqual(expected);
  });
});
