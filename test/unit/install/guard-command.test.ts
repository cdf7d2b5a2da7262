import { expect, it } from 'vitest';
import { INSTALLERS } from '../../../src/install/clients.ts';
import { guardCommand, isGuardCommand } from '../../../src/install/guard-command.ts';

it.each(['user', 'project'] as const)('a command of scope %s belongs to only one client', (scope) => {
  const clients = INSTALLERS.map(({ client }) => client);
  for (const client of clients) {
    const command = guardCommand({ client }, scope, '/opt/git-handoff/bin/git-handoff');
    expect(clients.filter((one) => isGuardCommand(one)(command))).toEqual([client]);
    expect(isGuardCommand(client.slice(0, -1))(command)).toBe(false);
  }
});
