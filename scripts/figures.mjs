/**
 * How large the program is for its readers and its users: prints each figure beside its limit, and ends with exit status 1
 * if one is exceeded. test/unit/figures.test.ts checks those of the sources. Needs the bundles
 * (npm run build).
 *
 *   node scripts/figures.mjs
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIMITS, wordsOf, wordsOfDocs } from './docs.mjs';
import { oddNames } from './names.mjs';
import { circles } from './rooms.mjs';

const ROOT = dirname(import.meta.dirname);
const SOURCE = join(ROOT, 'src');

/** The one permitted import cycle: the words and variables of a shell contain each other. */
const CIRCLE = 1;
/** This limit is only ever lowered (docs/decisions/0047-size.md). */
const MOST_LINES = 51_903;
/** Decisions that need more sh than this belong in TypeScript. */
const MOST_LINES_OF_SH = { 'bin/git-handoff': 300, 'git-hooks/': 150 };

/**
 * The figures of the sources and pages.
 * @returns {{ what: string, figure: number, most: number }[]}
 */
export function figuresOfSources() {
  const linesOf = (paths) =>
    paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(SOURCE, name));
  const hooks = readdirSync(join(ROOT, 'git-hooks')).map((name) => join(ROOT, 'git-hooks', name));
  const { doubled, unused } = oddNames();
  return [
    { what: 'lines in src/', figure: linesOf(sources), most: MOST_LINES },
    {
      what: 'lines in bin/git-handoff',
      figure: linesOf([join(ROOT, 'bin', 'git-handoff')]),
      most: MOST_LINES_OF_SH['bin/git-handoff'],
    },
    { what: 'lines in git-hooks/', figure: linesOf(hooks), most: MOST_LINES_OF_SH['git-hooks/'] },
    { what: 'circles of imports', figure: circles().length, most: CIRCLE },
    { what: 'names that two sources export', figure: doubled.length, most: 0 },
    { what: 'exports that nobody takes', figure: unused.length, most: 0 },
    { what: 'words in README.md', figure: wordsOf('README.md'), most: LIMITS['README.md'] },
    { what: 'words in docs/ without reference and decisions', figure: wordsOfDocs(), most: LIMITS['docs/'] },
  ];
}

/** How many lines the program prints for a newcomer: without a verb, and before `init` changes anything. */
function figuresOfOutput() {
  const home = mkdtempSync(join(tmpdir(), 'git-handoff-figures-'));
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const linesOf = (program, ...args) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: home, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
    return stdout.split('\n').length - 1;
  };
  try {
    linesOf('git', 'init', '-q');
    const program = join(ROOT, 'bin', 'git-handoff');
    return [
      { what: 'lines of git handoff', figure: linesOf(program), most: 25 },
      {
        what: 'lines of git handoff init',
        figure: linesOf(program, 'init', '--yes', '--client', 'claude'),
        most: 15,
      },
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function main() {
  const figures = [...figuresOfSources(), ...figuresOfOutput()];
  for (const { what, figure, most } of figures) {
    console.log(
      `${String(figure).padStart(6)} of ${String(most).padStart(6)}  ${what}${figure > most ? '  TOO MANY' : ''}`,
    );
  }
  if (figures.some(({ figure, most }) => figure > most)) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
