import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BLOCK_START } from '../../install/hook-block.ts';

/** A part of `init`'s receipt; of a file that may be damaged. */
interface Installed {
  readonly path: string;
  readonly role: string;
  readonly client?: string;
}

/**
 * The line for a session whose commits nobody looks at any more, because another program rewrote the git hooks (husky does
 * at every `npm install`) or removed them. Nothing is mended unasked: what a hook manager does is its user's decision.
 *
 * @param state the user's state folder
 */
export function lostHooks(commonDir: string, state: string): string[] {
  const own = installedFiles(join(commonDir, 'handoff', 'install.json'));
  const lost = own.filter(({ path, role }) => role === 'git-hook' && !isOurs(path));
  if (lost.length === 0) return [];
  const names = [...new Set(lost.map(({ path }) => basename(path)))].filter((name) =>
    /^[a-z-]{1,40}$/.test(name),
  );
  const command = initCommand(own, installedFiles(join(state, 'install.json')));
  return [
    `Another program rewrote the git hooks ${names.join(', ')}: commits go unchecked. To have ours back: ${command}`,
  ];
}

function installedFiles(receipt: string): Installed[] {
  try {
    const { files } = JSON.parse(readFileSync(receipt, 'utf8')) as { files: unknown };
    const listed = Array.isArray(files) ? (files as readonly Partial<Installed>[]) : [];
    return listed.filter((file): file is Installed => typeof file.path === 'string');
  } catch {
    return [];
  }
}

/** Ours as it stands there, or as pre-commit keeps it and runs it first. */
function isOurs(path: string): boolean {
  return ['', '.legacy'].some((suffix) => {
    try {
      return readFileSync(path + suffix, 'latin1').includes(`${BLOCK_START}\n`);
    } catch {
      return false;
    }
  });
}

/** What registers the same clients in the same place again, and no others. */
function initCommand(own: readonly Installed[], users: readonly Installed[]): string {
  const here = own.filter(({ role }) => role === 'settings');
  const isLocal = here.some(({ path }) => path.endsWith('settings.local.json'));
  const scope = here.length === 0 ? '' : isLocal ? ' --local' : ' --project';
  const settings = here.length === 0 ? users.filter(({ role }) => role === 'settings') : here;
  const clients = [...new Set(settings.map(({ client = '' }) => client))].filter((name) =>
    /^[a-z]{1,20}$/.test(name),
  );
  return `git handoff init --yes${scope} --client ${clients.join(',') || 'none'}`;
}
