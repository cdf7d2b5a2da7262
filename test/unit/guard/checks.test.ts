import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS_ANYWHERE, COMMANDS_IN_TREE } from '../../../src/guard/checks/of-commands.ts';
import { FILES_ANYWHERE, FILES_IN_TREE } from '../../../src/guard/checks/of-files.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const LISTS = { FILES_ANYWHERE, FILES_IN_TREE, COMMANDS_ANYWHERE, COMMANDS_IN_TREE };
const listed = Object.entries(LISTS).flatMap(([list, checks]) => checks.map((check) => ({ list, check })));
const rules = listed.map(({ list, check: { rule } }) => ({ list, rule }));

const FOLDERS = ['checks', 'effects', 'effects/rescue'].map((folder) => join(ROOT, 'src', 'guard', folder));
const fileOf = (rule: string) => FOLDERS.map((folder) => join(folder, `${rule}.ts`)).find(existsSync);

const TESTS = join(import.meta.dirname, 'checks');

describe('a check', () => {
  it.each(rules)('$list: $rule is in a file of its name', ({ rule }) => {
    expect(fileOf(rule)).toBeDefined();
  });

  it.each(rules)('$list: $rule has a test table', ({ list, rule }) => {
    expect(readFileSync(join(TESTS, `${rule}.test.ts`), 'utf8')).toContain(`table(${list}, '${rule}', [`);
  });
});
