import { describe, expect, it } from 'vitest';
import { stepsOf } from './blocks.ts';
import { compared } from '../../support/shape.ts';

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const kinds = (markdown: string) => stepsOf(markdown).map(({ kind }) => kind);

describe('the command lines of a page', () => {
  it('are read with who types them, what they show, and their line number', () => {
    expect(stepsOf(`Text.\n\n${fenced('console', '$ git log\nBegin\nA$ true\nlaptop$ ls')}`)).toEqual([
      { kind: 'type', line: 4, who: 'person', command: 'git log', shows: 'Begin\n' },
      { kind: 'type', line: 6, who: 'A', command: 'true', shows: '' },
      { kind: 'type', line: 7, who: 'laptop', command: 'ls', shows: '' },
    ]);
  });

  it('include those of sh blocks, with continued lines joined', () => {
    expect(stepsOf(fenced('sh', '# why\ngit log \\\n  --oneline'))).toEqual([
      { kind: 'type', line: 3, who: 'person', command: 'git log --oneline' },
    ]);
  });

  it.each([
    ['a block of no known language', fenced('', 'git log')],
    ['a block of bash', fenced('bash', 'git log')],
    ['output before any command', fenced('console', 'Begin')],
    ['an installation', fenced('sh', 'npm i -g git-handoff')],
    ['a client', fenced('sh', 'GIT_HANDOFF=off claude --resume')],
    ['a marker that nobody knows', '<!-- docs-test: skip -->\n'],
    ['a marker before no block', '<!-- docs-test: not run, no network -->\n\nText.\n'],
    ['a hidden command with output', '<!-- docs-test: first\n$ git log\nBegin\n-->\n'],
  ])('%s is wrong', (_, markdown) => {
    expect(kinds(markdown)).toEqual(['wrong']);
  });

  it('are left out, or run elsewhere, only for one block after a marker', () => {
    const npm = fenced('sh', 'npm ci');
    expect(kinds(`<!-- docs-test: not run, a network -->\n\n${npm}${npm}`)).toEqual(['left-out', 'wrong']);
    expect(kinds(`<!-- docs-test: run by test/e2e/x.test.ts -->\n\n${npm}`)).toEqual(['elsewhere']);
    expect(kinds(fenced('yaml', 'run: npm ci'))).toEqual([]);
  });
});

describe('what a page shows', () => {
  const same = (shown: string, printed: string) => {
    const result = compared(shown, printed);
    return result.shown === result.printed;
  };

  it('may differ only in object names and ages', () => {
    expect(same('1c392df794a8  just now\n', '3ec2187a6b54  2 minutes ago\n')).toBe(true);
    expect(same('1c392df794a8  write\n', '3ec2187a6b54  take\n')).toBe(false);
    expect(same('', 'more\n')).toBe(false);
  });

  it.each([
    ['…\nlast\n', true],
    ['first\n…\n', true],
    ['first\n…\nmiddle\n…\nlast\n', true],
    ['…\n', true],
    ['…\nmiddle\n', false],
    ['middle\n…\n', false],
    ['first\n…\nother\n…\nlast\n', false],
    ['…\nast\n', false],
    ['first\n…\niddle\n…\n', false],
  ])('%j stands for the lines between: %s', (shown, fits) => {
    expect(same(shown, 'first\nsecond\nmiddle\nfourth\nlast\n')).toBe(fits);
  });
});
