import { Failure } from '../domain/failure.ts';
import { claudeInstaller } from './claude.ts';
import type { ClientInstaller } from './client.ts';

/** Every client whose settings `init` can edit. */
export const INSTALLERS: readonly ClientInstaller[] = [claudeInstaller];

/** @throws Failure `usage` for a client that we do not know */
export function installerOf(client: string): ClientInstaller {
  const installer = INSTALLERS.find((candidate) => candidate.client === client);
  if (installer !== undefined) return installer;
  throw new Failure('usage', `unknown client: ${client}`, {
    hint: `git handoff init --client ${INSTALLERS[0]?.client ?? 'claude'}`,
  });
}
