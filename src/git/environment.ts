/** On Linux, names that differ only in case are different files: `core.ignoreCase=true` would hide untracked files. */
const CASE = process.platform === 'linux' ? ['core.ignoreCase=false'] : [];

/**
 * Hook events that our git commands can raise, besides `reference-transaction`. A newer git also takes hooks from its
 * configuration. `core.hooksPath` does not stop those, but `hook.<event>.enabled` does (git-config(1)). Some versions, such as
 * git 2.54, ignore that key: they can switch a hook off only by its name, which we do not know.
 */
const HOOK_EVENTS = ['post-index-change', 'pre-push', 'pre-auto-gc'];

/**
 * Settings that no repository may override. With them git starts no program that a repository names (fsmonitor, hooks, signature
 * checks), prints plain output, leaves out nothing that exists, and syncs each write to the disk before it reports success.
 */
export const FIXED_CONFIG = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'hook.reference-transaction.enabled=false',
  'core.fsync=objects,reference',
  'core.filesRefLockTimeout=1000',
  'reftable.lockTimeout=1000',
  ...HOOK_EVENTS.map((event) => `hook.${event}.enabled=false`),
  'log.showSignature=false',
  'color.ui=false',
  'advice.graftFileDeprecated=false',
  // We read trailers by git's own rules, not by those that a user chose for new messages.
  'core.commentChar=#',
  'trailer.separators=:',
  'i18n.logOutputEncoding=UTF-8',
  'log.follow=false',
  'log.showRoot=true',
  'diff.orderFile=/dev/null',
  // `true` would keep contents with mixed line ends out of the scratch store.
  'core.safecrlf=false',
  'submodule.recurse=false',
  ...CASE,
].flatMap((setting) => ['-c', setting]);

/** For writes that a crash may lose: waiting for the disk at each object and ref is too slow for thousands of them. */
export const NOT_SYNCED = ['-c', 'core.fsync=none'];

/** How git reads the pathspecs of its command line (git(1)). */
const PATHSPECS = ['LITERAL', 'GLOB', 'NOGLOB', 'ICASE'].map((mode) => `GIT_${mode}_PATHSPECS`);

/** Variables that name a program or change what git reads. `GIT_CONFIG` hides the repository's settings from git-config(1). */
const MISLEADING = /^GIT_(?:CONFIG|EXTERNAL_DIFF|DIFF_OPTS|ATTR_SOURCE|REDIRECT_STDOUT)$/;

/**
 * Returns the environment without variables that would mislead our git children. Drops pathspec modes, because our paths are
 * literal. Drops a `GIT_WORK_TREE` without a `GIT_DIR`, because git would look at all of that folder.
 */
export function withoutStray(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const stray = base['GIT_DIR'] === undefined ? [...PATHSPECS, 'GIT_WORK_TREE'] : PATHSPECS;
  return Object.fromEntries(Object.entries(base).filter(([name]) => !stray.includes(name)));
}

/** The pathspec modes that the user chose, for pathspecs that the user typed. */
export function pathspecModes(base: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    PATHSPECS.flatMap((name) => (base[name] === undefined ? [] : [[name, base[name]]])),
  );
}

/** The variables that replace those of `gitEnvironment` if a git child may open a connection; `undefined` unsets one. */
export function connecting(mayAsk: boolean): Record<string, string | undefined> {
  return {
    ...(mayAsk ? { GIT_TERMINAL_PROMPT: '1' } : {}),
    GIT_NO_LAZY_FETCH: undefined,
    GIT_ALLOW_PROTOCOL: process.env['GIT_ALLOW_PROTOCOL'],
  };
}

/** For git children: no prompt, pager, connection (a partial clone would fetch objects), or trace on stdout; always English. */
export function gitEnvironment(
  base: NodeJS.ProcessEnv,
  extra: Readonly<Record<string, string | undefined>> = {},
): NodeJS.ProcessEnv {
  const isMisleading = (name: string) => name.startsWith('GIT_TRACE') || MISLEADING.test(name);
  const kept = Object.entries(withoutStray(base)).filter(([name]) => !isMisleading(name));
  return Object.assign(Object.fromEntries<string | undefined>(kept), {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_PAGER: 'cat',
    GIT_NO_LAZY_FETCH: '1',
    // git before 2.45 does not know GIT_NO_LAZY_FETCH, so we allow no protocol.
    GIT_ALLOW_PROTOCOL: 'none',
    ...extra,
  });
}
