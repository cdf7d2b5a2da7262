import { expect, it } from 'vitest';
import { guardCommand, isGuardCommand } from '../../../src/install/guard-command.ts';

it.each(['user', 'project'] as const)('a command of scope %s is the one of its client alone', (scope) => {
  const clients = ['claude', 'codex', 'gemini', 'qwen', 'cursor', 'copilot'];
  for (const client of clients) {
    const command = guardCommand({ client }, scope, '/opt/git-handoff/bin/git-handoff');
    expect(clients.filter((one) => isGuardCommand(one)(command))).toEqual([client]);
    expect(isGuardCommand(client.slice(0, -1))(command)).toBe(false);
  }
});
