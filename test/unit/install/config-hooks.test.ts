import { expect, it } from 'vitest';
import {
  configHookCommand,
  isConfigHookCurrent,
  parseConfigHooks,
  runsConfigHooks,
} from '../../../src/install/config-hooks.ts';

it.each([
  ['git version 2.39.5', false],
  ['git version 2.53.9', false],
  ['git version 2.54.0', true],
  ['git version 2.55.0.windows.1', true],
  ['git version 3.0.0', true],
  ['git version 10.1', true],
  ['nonsense', false],
  ['', false],
])('%s runs hooks from its config: %s', (version, expected) => {
  expect(runsConfigHooks(version)).toBe(expected);
});

it('only our entries are recognised in what git prints', () => {
  const command = configHookCommand('pre-push', '/a b');
  const entries = [
    `hook.handoff-pre-push.command\n${command}`,
    'hook.handoff-pre-push.event\npre-push',
    'hook.handoff-pre-commit.event',
    'hook.handoff-mine.command\nx',
  ];
  const found = parseConfigHooks(entries.map((entry) => `${entry}\0`).join(''));
  expect([...found.keys()]).toEqual(['pre-push', 'pre-commit']);
  expect(isConfigHookCurrent(found, 'pre-push', '/a b')).toBe(true);
  expect(isConfigHookCurrent(found, 'pre-push', '/a c')).toBe(false);
  expect(isConfigHookCurrent(found, 'pre-commit', '/a b')).toBe(false);
  expect(isConfigHookCurrent(found, 'commit-msg', '/a b')).toBe(false);
});
