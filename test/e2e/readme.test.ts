import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERBS } from '../../src/cli/verbs.ts';
import { parseSettings } from '../../src/domain/settings.ts';
import { EXIT_CODES } from '../../src/domain/messages.ts';

/** A section of a man(7) source: its text up to the next section, and its sub-sections by title. */
interface ManSection {
  readonly text: string;
  readonly parts: ReadonlyMap<string, string>;
}

/** Source text without font changes and escaped hyphens. */
const plain = (text: string) => text.replace(/\\f[BIRP]/g, '').replaceAll('\\-', '-');

function split(text: string, macro: 'SH' | 'SS'): Map<string, string> {
  const parts = text.split(new RegExp(`^\\.${macro} (.*)$`, 'm')).slice(1);
  const found = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) {
    found.set(plain(parts[at] ?? '').replace(/^"(.*)"$/, '$1'), parts[at + 1] ?? '');
  }
  return found;
}

/** The sections of a manual page by title. */
function manSections(page: string): ReadonlyMap<string, ManSection> {
  const sections = [...split(page, 'SH')];
  return new Map(sections.map(([title, text]) => [title, { text, parts: split(text, 'SS') }]));
}

/** The options that tagged paragraphs (`.TP`) describe: `-m`, `--message`. */
function manOptions(text: string): string[] {
  const tags = [...plain(text).matchAll(/^\.TP\n(.*)$/gm)].map(([, tag]) => tag ?? '');
  return tags.flatMap((tag) => tag.match(/(?<![\w-])--?[a-zA-Z][a-z-]*/g) ?? []);
}

const ROOT = join(import.meta.dirname, '..', '..');
const MAN_PAGE = join(ROOT, 'docs', 'git-handoff.1');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

const help = (verb: string[]) =>
  spawnSync(join(ROOT, 'bin', 'git-handoff'), [...verb, '-h'], { encoding: 'utf8' }).stdout;
const verbs = Object.keys(VERBS);

/** The names that `-h` lists: `-m`, `--message`. */
function helpOptions(verb: string): string[] {
  const lines = help([verb]).matchAll(/^ {2}(?: {4}|(-\w), )(--[a-z-]+)/gm);
  return [...lines].flatMap(([, short, long]) => [short, long]).filter((name) => name !== undefined);
}

// `notifyCommand` is read only from a person's own configuration (sessions/happenings.ts).
const settingKeys = Object.keys({ ...parseSettings([]), notifyCommand: '' })
  // `unknown` lists invalid settings, and is not a setting.
  .filter((key) => key !== 'unknown')
  .map((key) => `handoff.${key.replace(/Ms$/, '')}`);
const keysIn = (text: string) => [...new Set(text.match(/\bhandoff\.[a-z]\w+/gi))].sort();

const page = (name: string) => readFileSync(join(ROOT, 'docs', name), 'utf8');

describe('README', () => {
  it('names verbs that exist', () => {
    const listed = readme
      .split('\n')
      .filter((line) => line.startsWith('- `'))
      .flatMap((line) => [...(/^(.*?): /.exec(line)?.[1] ?? '').matchAll(/`([a-z]+)`/g)])
      .map(([, verb]) => verb);
    expect(listed).toHaveLength(11);
    expect(verbs).toEqual(expect.arrayContaining(listed));
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const named = [...readme.matchAll(/\bnpm (?:run )?(demo|test\S*|bench|build)\b/g)].map(
      ([, name]) => name,
    );
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});

/** Expects that a script would write the page as it is committed. */
function expectCurrent(script: string): void {
  const run = spawnSync(process.execPath, [join(ROOT, 'scripts', script), '--check'], { encoding: 'utf8' });
  expect(run).toMatchObject({ status: 0, stderr: '' });
}

it('docs/clients.md and the README’s clients are what the table of clients says now', () => {
  expectCurrent('clients.mjs');
});

describe('docs/configuration.md', () => {
  it('lists every setting and no other', () => {
    expect(keysIn(page('configuration.md'))).toEqual([...settingKeys].sort());
  });

  it('has every exit status and no other', () => {
    const listed = [...page('configuration.md').matchAll(/^- (\d+): /gm)].map(([, status]) => Number(status));
    expect(listed).toEqual([0, ...new Set(Object.values(EXIT_CODES))]);
  });
});

describe('manual page', () => {
  const sections: ReadonlyMap<string, ManSection> = manSections(page('git-handoff.1'));
  const section = (title: string) => sections.get(title) ?? { text: '', parts: new Map<string, string>() };
  const commands = section('COMMANDS').parts;

  it('has every verb of -h, the clients’ hook command, and no other', () => {
    expect([...commands.keys()].map((title) => title.split(' ')[0])).toEqual([...verbs, 'guard']);
  });

  it.each(verbs)('has the usage and the options of %s, and no other', (verb) => {
    const usage = /^usage: git handoff (.*)$/m.exec(help([verb]))?.[1] ?? '';
    const [title = '', text = ''] = [...commands].find(([name]) => name.split(' ')[0] === verb) ?? [];
    expect(title).toBe(usage);
    const common = manOptions(section('COMMON OPTIONS').text);
    expect([...manOptions(text), ...common].sort()).toEqual(helpOptions(verb).sort());
  });

  it('has every exit status, error code and setting, and no other', () => {
    const statuses = [...section('EXIT STATUS').text.matchAll(/^\.TP\n(\d+)$/gm)].map(([, code]) =>
      Number(code),
    );
    expect(statuses).toEqual([0, ...new Set(Object.values(EXIT_CODES))]);
    const codes = [...section('JSON OUTPUT').text.matchAll(/^\.TP\n\.BR (\S+) "? ?\((\d+)\)"?$/gm)];
    const listed = codes.map(([, code = '', status]) => [code.replaceAll('\\-', '-'), Number(status)]);
    expect(Object.fromEntries(listed)).toEqual(EXIT_CODES);
    expect(keysIn(section('CONFIGURATION').text)).toEqual([...settingKeys].sort());
  });

  const groff = spawnSync('groff', ['--version']).status === 0;
  it.runIf(groff)('is rendered without a warning', () => {
    const args = ['-ww', '-man', '-Tutf8', '-K', 'utf8', MAN_PAGE];
    const { status, stdout, stderr } = spawnSync('groff', args, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('git handoff');
  });
});
