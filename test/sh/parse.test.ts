import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GIT_HOOKS, chainBlock, soleBlock } from '../../src/install/hook-block.ts';
import { INSTALLERS } from '../../src/install/clients.ts';
import { guardCommand } from '../../src/install/guard-command.ts';
import { type Shell, shells } from '../support/shells.ts';

const root = join(import.meta.dirname, '..', '..');
const PACKAGE = "/opt/it's/git-handoff";

/** Why the shell cannot parse a script; empty if it can. */
function complaint(shell: Shell, args: string[], input?: string): string {
  const done = spawnSync(shell.binary, ['-n', ...args], {
    argv0: 'sh',
    input,
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
  });
  return done.status === 0 ? '' : `${done.status}: ${done.stderr}`;
}

describe.each(shells)('$name as /bin/sh parses', (shell) => {
  it.each(['bin/git-handoff', ...readdirSync(join(root, 'git-hooks')).map((name) => `git-hooks/${name}`)])(
    '%s',
    (file) => {
      expect(complaint(shell, [join(root, file)])).toBe('');
    },
  );

  it.each(GIT_HOOKS)('what init writes into %s', (hook) => {
    for (const block of [soleBlock(hook, PACKAGE), chainBlock(hook, PACKAGE)]) {
      expect(complaint(shell, [], block)).toBe('');
    }
  });

  it('what init registers with the clients', () => {
    for (const client of INSTALLERS) {
      for (const scope of ['user', 'project'] as const) {
        expect(complaint(shell, [], guardCommand(client, scope, `${PACKAGE}/bin/git-handoff`))).toBe('');
      }
    }
  });
});
