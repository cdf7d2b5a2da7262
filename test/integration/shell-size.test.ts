import { describe, expect, it } from 'vitest';
import { analyseShell } from '../../src/shell/analyse.ts';
import { FILE, fakeWorld, isHit } from '../unit/shell/fake-world.ts';

const SIZE = 200_000;
const fill = (unit: string, prefix = '', end = '') =>
  prefix + unit.repeat(Math.floor(SIZE / unit.length)) + end;

/** Texts that make a careless reader take quadratic or exponential time, or overflow its stack. */
const HOSTILE: Readonly<Record<string, string>> = {
  blanks: fill(' ', 'echo x >'),
  // As many as the parser still reads.
  'parsed redirects': `echo x >${'> '.repeat(29_000)}`,
  'parsed files': '>a '.repeat(29_000),
  'parsed here-documents': '<<E '.repeat(14_900),
  redirects: fill('> ', 'echo x >'),
  files: fill('>a '),
  backslashes: fill('\\', 'echo x >'),
  'open braces': fill('{a,', 'echo '),
  'closed braces': fill('{a,', 'echo ', '}'.repeat(66_666)),
  statements: fill('a;'),
  'here-documents': fill('<<E '),
  'command substitutions': fill('$('),
  'closed substitutions': `${'$('.repeat(66_666)}${')'.repeat(66_666)}`,
  'quoted substitutions': fill('"$('),
  backticks: fill('`a` ', 'echo '),
  arithmetic: fill('(('),
  'arithmetic expansion': fill('1+', 'echo $((', '1))'),
  'process substitutions': fill('<('),
  defaults: fill('${a:-'),
  functions: fill('f() '),
  coprocesses: fill('coproc '),
  'subshells with variables': fill('(a=1);'),
  'branches with variables': fill('a && x=1 && ', '', 'b'),
  'growing variable': fill('a=$a$a;', 'a=x;'),
  loops: `for i in {1..1000}; do for j in {1..1000}; do echo x > $i$j; done; done ${fill('#')}`,
  'many arguments': `set -- ${fill('a ')}; for i; do echo $1; done`,
  'many options': fill('--abc=1 ', 'git checkout '),
  'many short options': fill('-f ', 'rm '),
  // More words than a JavaScript function can be called with.
  'many words after options': `nice x ${'a '.repeat(130_000)}`,
  'many words after --': `set -- ${'a '.repeat(130_000)}; git checkout -- "$@"`,
  'many elements': `a=(${fill('b ')}); for i in \${a[@]}; do echo \${a[0]}; done`,
  'recursive function': 'f() { f; f; }; f',
  'nested launchers': fill('sudo ', '', 'a'),
  'nested eval': fill('eval ', '', 'a'),
  'lines of input': `while read f; do rm $f; done <<E\n${fill('a\n')}E\n`,
  'find parentheses': fill('\\( ', 'find . '),
  'find negations': fill('! ', 'find . '),
  'patterns of stars': fill('*a', 'echo '),
  'removal of a pattern': `x=${fill('a')}; echo \${x%%*a*b*} \${x//a*b/c}`,
  'sed script': fill('/[', "sed -n '", "'"),
  'awk program': fill('{print >', "awk '", "'"),
  'calls in code': `python3 -c '${'open('.repeat(12_000)}'`,
  'sums in code': `python3 -c '${'a=b+'.repeat(15_000)}'`,
  'growing text in code': `node -e '${'a = a + a;'.repeat(6000)}'`,
};

describe('200 KB of hostile input', () => {
  // Quadratic time for this size would take minutes, so the runner's time limit is the assertion.
  it.each(Object.entries(HOSTILE))('%s', async (_, command) => {
    await expect(analyseShell(command, fakeWorld())).resolves.toBeDefined();
  });
});

describe('the rule for commands that are too large to read', () => {
  const padding = `# ${'x'.repeat(300_000)}\n`;
  it('counts a handoff file named beside a write operator as written', async () => {
    expect(isHit(await analyseShell(`${padding}echo x > ${FILE}`, fakeWorld()))).toBe(true);
    expect(
      isHit(await analyseShell(`${padding}echo x > ~/.claude/projects/testproj/memory/x`, fakeWorld())),
    ).toBe(false);
    expect(isHit(await analyseShell(`${padding}cd m; rm handoff-main-auth-refresh.md`, fakeWorld()))).toBe(
      true,
    );
    expect(isHit(await analyseShell(`${padding}git update-ref -d refs/handoffs/a/b-c`, fakeWorld()))).toBe(
      true,
    );
    expect(isHit(await analyseShell(`${'cat <<E\nE\n'.repeat(201)}rm ${FILE}`, fakeWorld()))).toBe(true);
  });

  it.each(Array.from(';&|<>\n\'"`(){}'))(
    'takes over where there are more than 30,000 of %j',
    async (mark) => {
      // A parser would see only a comment; the simpler reading that takes over does not.
      const command = `# > ${FILE}\n${`${mark} `.repeat(30_001)}`;
      expect(isHit(await analyseShell(command, fakeWorld()))).toBe(true);
    },
  );

  it('says nothing about the rest', async () => {
    const effects = await analyseShell(`${padding}echo x > other`, fakeWorld());
    expect(effects).toEqual({
      paths: [],
      refs: [],
      gitCalls: [],
      folders: [],
      modes: [],
      unnamedWrites: [],
      identity: [],
      handoffCalls: [],
    });
  });

  it('also decides when the analysis reaches its limit', async () => {
    const deep = `${'$('.repeat(300)}rm ${FILE}${')'.repeat(300)}`;
    expect(isHit(await analyseShell(deep, fakeWorld()))).toBe(true);
  });
});

describe('any text', () => {
  it('never throws', async () => {
    const parts = [
      '$(',
      ')',
      '`',
      '"',
      "'",
      '\\',
      '{',
      '}',
      ',',
      '<<E',
      '\n',
      ' ',
      ';',
      '|',
      '&',
      '>',
      '[[',
      '((',
      'a',
    ];
    parts.push(
      'sed -i',
      'awk',
      'find',
      'git',
      'python3 -c',
      'for x in',
      'do',
      'done',
      'case',
      'esac',
      '${',
      'eval',
      '\0',
      '\uffff',
      '😀',
    );
    let seed = 20_261_121;
    const next = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0);
    for (let n = 0; n < 3000; n++) {
      const text = Array.from(
        { length: 1 + (next() >>> 27) },
        () => parts[(next() >>> 16) % parts.length],
      ).join(' ');
      await expect(analyseShell(text, fakeWorld()), text).resolves.toBeDefined();
    }
  });
});
