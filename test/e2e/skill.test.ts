import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isSectionHeading } from '../../src/domain/note/sections.ts';
import { withInstructions } from '../../src/install/instructions.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const skill = readFileSync(join(ROOT, 'skills', 'git-handoff', 'SKILL.md'), 'utf8');
const snippet = withInstructions('');

const help = (verb: string) =>
  spawnSync(join(ROOT, 'bin', 'git-handoff'), [verb, '-h'], { encoding: 'utf8' });

/** Command lines in backticks and in code blocks, each once. */
function commands(text: string): string[] {
  const found = text.matchAll(/(?:`|^)git handoff ([^`\n]+)/gm);
  return [...new Set([...found].map(([, words]) => words ?? ''))];
}

/** Counts the words of a command, without options, and the words that its usage allows, such as `rescue [<action>] [<which>]`. */
function counts(verb: string, words: readonly string[]): { given: number; least: number; most: number } {
  const usage = /^usage: git handoff \S+(.*)$/m.exec(help(verb).stdout)?.[1] ?? '';
  const all = (usage.split(' [--')[0] ?? '').split(' ').filter((word) => word !== '');
  const least = all.filter((word) => !word.startsWith('[') || !word.endsWith(']')).length;
  let given = 0;
  for (let at = 0; at < words.length && words[at] !== '<<' && words[at] !== '--'; at++) {
    const word = words[at] ?? '';
    if (word.startsWith('-')) at += takesValue(verb, word) ? 1 : 0;
    else if (!word.startsWith('<<')) given++;
  }
  return { given, least, most: all.length };
}

const takesValue = (verb: string, option: string) =>
  help(verb)
    .stdout.split('\n')
    .some((line) => optionsOf(line).includes(option) && /--[a-z-]+\s+</.test(line));

const optionsOf = (line: string) => /^ {2}(?: {4}|-\w, )--[a-z-]+/.exec(line)?.[0].trim().split(', ') ?? [];

describe.each([
  ['the skill', skill],
  ['the lines for AGENTS.md', snippet],
])('%s', (_, text) => {
  it('has commands that lead from write to boot to continuing', () => {
    const verbs = new Set(commands(text).map((words) => words.split(' ')[0]));
    for (const verb of ['write', 'boot', 'take', 'commit', 'status', 'rescue']) expect(verbs).toContain(verb);
  });

  it.each(commands(text))('git handoff %s: matches its -h', (line) => {
    const [verb = '', ...words] = line.split(' ');
    const { status, stdout } = help(verb);
    expect(status).toBe(0);
    const known = stdout.split('\n').flatMap(optionsOf);
    expect(known).toEqual(expect.arrayContaining(words.filter((word) => /^--?[a-z]/.test(word))));
    const { given, least, most } = counts(verb, words);
    if (words.length === 0 && least > 0) return; // The verb is only mentioned.
    expect(given).toBeGreaterThanOrEqual(least);
    expect(given).toBeLessThanOrEqual(most);
  });
});

describe('the skill', () => {
  it('tells clients its name and when to use it', () => {
    const [, yaml = ''] = /^---\n([^]*?)\n---\n/.exec(skill) ?? [];
    const front = parse(yaml) as Record<string, string>;
    expect(Object.keys(front)).toEqual(['name', 'description']);
    expect(front['name']).toBe('git-handoff');
    expect(front['description']).toMatch(/\bUse it\b/);
    // The maximum that Claude Code accepts.
    expect(front['description']?.length).toBeLessThanOrEqual(1024);
  });

  it('is short', () => {
    expect(skill.trim().split(/\s+/).length).toBeLessThanOrEqual(250);
  });

  it('has a note whose headings git-handoff knows', () => {
    const note = /<<'NOTE'\n([^]*?)^NOTE$/m.exec(skill)?.[1] ?? '';
    const titles = note.match(/(?<=^## ).*$/gm) ?? [];
    expect(titles).toHaveLength(5);
    expect(titles.filter((title) => !isSectionHeading(`## ${title}`))).toEqual([]);
    for (const title of titles) expect(snippet.replace(/\s+/g, ' ')).toContain(title);
  });
});
