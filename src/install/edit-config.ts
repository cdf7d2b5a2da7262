import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GitRunner, gitFailure } from '../git/run.ts';
import { type ConfigHooks, configHookCommand, configHookName, isConfigHookCurrent } from './config-hooks.ts';
import type { GitHook } from './hook-block.ts';
import { type RepositoryFacts, isEnabled } from './repository-facts.ts';

/** Changes a copy of a config file: runs `git config --file <copy>` with these words. */
type Edit = (...words: string[]) => Promise<void>;

/**
 * The config that the repository should have: `handoff.enabled` is true, and `hooks` are the only hooks of ours. If the config
 * is like that already, no byte changes.
 *
 * @throws Failure `environment`
 */
export function wantedConfig(
  git: GitRunner,
  repository: RepositoryFacts,
  hooks: readonly GitHook[],
  packageRoot: string,
): Promise<Buffer> {
  const { configHooks } = repository;
  const changed = hooks.filter((hook) => !isConfigHookCurrent(configHooks, hook, packageRoot));
  const gone = [...configHooks.keys()].filter((hook) => !hooks.includes(hook));
  return edited(git, repository.config, async (edit) => {
    if (!isEnabled(repository.enabled)) await edit('--replace-all', 'handoff.enabled', 'true');
    for (const hook of gone) await edit('--remove-section', `hook.${configHookName(hook)}`);
    for (const hook of changed) {
      const name = configHookName(hook);
      await edit('--replace-all', `hook.${name}.command`, configHookCommand(hook, packageRoot));
      await edit('--replace-all', `hook.${name}.event`, hook);
    }
  });
}

/**
 * The config without us: `handoff.enabled` as it was before, none of our hooks.
 *
 * @throws Failure `environment`
 */
export function configWithoutUs(
  git: GitRunner,
  { config, configHooks }: { readonly config: Buffer; readonly configHooks: ConfigHooks },
  enabledBefore: readonly string[],
): Promise<Buffer> {
  return edited(git, config, async (edit) => {
    const [first, ...more] = enabledBefore;
    if (first === undefined) await edit('--unset-all', 'handoff.enabled');
    else await edit('--replace-all', 'handoff.enabled', first);
    for (const value of more) await edit('--add', 'handoff.enabled', value);
    for (const hook of configHooks.keys()) await edit('--remove-section', `hook.${configHookName(hook)}`);
  });
}

/** Lets git itself make the changes, on a copy. */
async function edited(
  git: GitRunner,
  config: Buffer,
  change: (edit: Edit) => Promise<void>,
): Promise<Buffer> {
  const folder = await fs.mkdtemp(join(tmpdir(), 'git-handoff-'));
  const copy = join(folder, 'config');
  try {
    await fs.writeFile(copy, config, { mode: 0o600 });
    await change(async (...words) => {
      const result = await git(['config', '--file', copy, ...words], { cwd: folder });
      // git exits with 5 if there was nothing to unset.
      if (result.code !== 0 && result.code !== 5) throw gitFailure('config', result);
    });
    return await fs.readFile(copy);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}
