import type { GitRunner } from '../git/run.ts';

/** What `init` and `uninstall` need to know of the world around them. */
export interface InstallContext {
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that holds `bin/` and `git-hooks/`. */
  readonly packageRoot: string;
  /** Absolute path of the running Node. */
  readonly nodePath: string;
  /** Shows the plan and asks; undefined where nobody can answer (no terminal). */
  readonly confirm: ((plan: string) => Promise<boolean>) | undefined;
  readonly git: GitRunner;
  readonly platform: NodeJS.Platform;
}
