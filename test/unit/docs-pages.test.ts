import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as docs from '../../scripts/docs.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
const pages = docs.pages();
const records = pages.filter((page) => /^docs\/decisions\/\d/.test(page));

describe('all pages', () => {
  it.each(pages)('%s has no broken link', (page) => {
    expect(docs.brokenLinks(page)).toEqual([]);
  });

  it.each(docs.texts())('%s is in plain English (docs/style.md)', (page) => {
    expect(docs.calquesOf(page)).toEqual([]);
  });

  it('are in the index', () => {
    const linked = [...read('docs/README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
    const names = pages.filter((page) => /^docs\/[a-z-]+\.md$/.test(page));
    expect(linked).toEqual(expect.arrayContaining(names.map((page) => page.replace('docs/', ''))));
  });

  it('exist if a source names them', () => {
    expect(docs.missingPages()).toEqual([]);
  });
});

describe('limits of words', () => {
  it('README.md can be read in five minutes', () => {
    expect(docs.wordsOf('README.md')).toBeLessThanOrEqual(docs.LIMITS['README.md']);
  });

  it('docs/ can be read in an hour', () => {
    expect(docs.wordsOfDocs()).toBeLessThanOrEqual(docs.LIMITS['docs/']);
  });

  it.each(records)('%s is one page', (page) => {
    expect(docs.wordsOf(page)).toBeLessThanOrEqual(docs.LIMITS['a decision']);
  });
});

describe('decisions', () => {
  it('are numbered without a gap, and listed with their titles and status', () => {
    const index = [
      ...read('docs/decisions/README.md').matchAll(/^\| (\d+) +\| \[(.+)\]\((.+)\) +\| (.+?) +\|$/gm),
    ];
    const listed = index.map(([, number = '', title = '', file = '', status = '']) => ({
      ...{ number: Number(number), title, file, status },
    }));
    const written = records.map((page) => {
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(read(page)) ?? [];
      const [, status] = /^Status: (.+)$/m.exec(read(page)) ?? [];
      return { number: Number(number), title, file: page.replace('docs/decisions/', ''), status };
    });
    expect(listed.sort((a, b) => a.number - b.number)).toEqual(written);
    expect(written.map(({ number }) => number)).toEqual(records.map((_, index) => index + 1));
  });

  it.each(records)('%s has a status', (page) => {
    expect(read(page)).toMatch(/^Status: (?:accepted|superseded(?: by \[.+\]\(\d{4}-.+\.md\))?)$/m);
  });
});

describe('the style', () => {
  const examples = docs.examplesOfStyle();
  /** Examples that the page does not show, but that the script also advises against. */
  const MORE = [
    { before: 'a gate that opens is none', after: 'a gate that opens is useless' },
    { before: 'The reasons stand in that file', after: 'For the reasons, see that file' },
    { before: 'A session is told by its id', after: 'We recognize a session by its id' },
    { before: 'a secret seems to stand in it', after: 'it looks like it contains a secret' },
    { before: 'who you are is known', after: 'git-handoff already knows your session' },
    { before: 'Tell your person', after: 'Tell the user' },
    { before: 'Who releases needs push rights', after: 'To release, you need push rights' },
    { before: 'the server is to be updated', after: 'the server must be updated' },
  ];

  it('has examples', () => {
    expect(examples).toHaveLength(4);
  });

  it.each([...examples, ...MORE])('advises against "$before"', ({ before, after }) => {
    expect(docs.calquesIn(before)).not.toEqual([]);
    expect(docs.calquesIn(after)).toEqual([]);
  });
});

describe('the texts in src/', () => {
  it('are plain English (docs/style.md)', () => {
    expect(docs.calquesOfSources()).toEqual([]);
  });
});

describe('the recipes of CONTRIBUTING.md', () => {
  const [, recipes = ''] = /^## Recipes\n(.*?)^### Smaller ones$/ms.exec(read('CONTRIBUTING.md')) ?? [];
  const titled = recipes
    .split(/^### /m)
    .slice(1)
    .map((recipe) => [recipe.split('\n')[0] ?? '', recipe] as const);

  it('are for a verb, a client, a git hook and a check', () => {
    expect(titled.map(([title]) => title)).toEqual([
      ...['A verb', 'A client', 'A git hook', 'A check of the guard'],
    ]);
  });

  it.each(titled)('%s names at most five files', (_, recipe) => {
    const steps = [...recipe.matchAll(/^- /gm)];
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.length).toBeLessThanOrEqual(5);
  });

  it('name existing files', () => {
    const named = [...recipes.matchAll(/`((?:src|docs|schema|test|fixtures|git-hooks)\/[^`<]*)`/g)];
    expect(named.map(([, file = '']) => file).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
