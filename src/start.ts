import { existsSync } from 'node:fs';
import module from 'node:module';

/**
 * What Node runs: `start.cjs <pid of the launcher's parent> <words of the launcher>`. It loads the bundle for these words
 * and runs it. From Node 22 on, Node caches the compiled code in the user's state folder, which `init` makes and
 * `uninstall` removes; without that folder it caches nothing.
 */

interface Program {
  readonly main: (argv: readonly string[]) => Promise<number>;
}

/** The folder of Node's compile cache; `undefined` if the user has no state folder (host/folders.ts). */
function cacheFolder(): string | undefined {
  const { XDG_STATE_HOME: base = '', HOME: home = '' } = process.env;
  const state = base.startsWith('/') ? base : home.startsWith('/') ? `${home}/.local/state` : undefined;
  return state !== undefined && existsSync(`${state}/git-handoff`) ? `${state}/git-handoff/code` : undefined;
}

const folder = cacheFolder();
// Node 20 has no compile cache.
if (folder !== undefined)
  (module as { enableCompileCache?: (folder: string) => void }).enableCompileCache?.(folder);
const argv = process.argv.slice(2);
/** Whether a client's hook or a git hook started us: the call is then allowed, whatever goes wrong. */
const isHook = argv[1] === 'guard' || argv[1] === 'hook';
const load = module.createRequire(__filename);
const { main } = load(isHook ? './hook.cjs' : './cli.cjs') as Program;
void main(argv).then(
  // Without `exit`, Node would collect garbage first.
  (status) => process.exit(status),
  isHook ? () => process.exit(argv[1] === 'hook' ? 1 : 0) : undefined,
);
