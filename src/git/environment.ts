/** Only where names that differ in case alone are different files: `true` there hides untracked ones. */
const CASE = process.platform === 'linux' ? ['core.ignoreCase=false'] : [];

/**
 * The events of git's hooks that commands of ours can raise, besides that of a store. A newer git takes hooks from its config
 * too, which a folder of hooks that is not there does not stop, but `hook.<event>.enabled` does (git-config(1)); others overlook
 * the key, git 2.54 among them: it knows no switch for hooks whose names it is not told.
 */
const HOOK_EVENTS = ['post-index-change', 'pre-push', 'pre-auto-gc'];

/**
 * Settings that no repository may override: no program that it names is started (fsmonitor, hooks,
 * signature checks), output is plain, nothing that is there is passed over, and what a write reports as done
 * is on the disk.
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
  // Trailers are read by git's own rules, not by those that somebody chose for new messages.
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

/** For what a crash may cost: git waits for the disk at each object and ref, which is too dear for thousands. */
export const NOT_SYNCED = ['-c', 'core.fsync=none'];

/** How git reads the pathspecs of its command line (git(1)). */
const PATHSPECS = [
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
];

/** They name a program or change what is read. `GIT_CONFIG` is for git-config(1) alone: it hides the repository's. */
const MISLEADING = [
  'GIT_CONFIG',
  'GIT_EXTERNAL_DIFF',
  'GIT_DIFF_OPTS',
  'GIT_ATTR_SOURCE',
  'GIT_REDIRECT_STDOUT',
];

/**
 * The environment without what would mislead any git child of ours: pathspec modes (the paths that we name are
 * literal), and a top folder without a repository to go with it, all of which would be looked at.
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

/** What a child of ours that opens a connection has instead; `undefined`: no such variable. */
export function connecting(mayAsk: boolean): Record<string, string | undefined> {
  return {
    ...(mayAsk ? { GIT_TERMINAL_PROMPT: '1' } : {}),
    GIT_NO_LAZY_FETCH: undefined,
    GIT_ALLOW_PROTOCOL: process.env['GIT_ALLOW_PROTOCOL'],
  };
}

/**
 * The environment of git children: nothing prompts, pages, opens a connection (a partial clone would ask its
 * remote for what is missing), traces to stdout or speaks another language.
 */
export function gitEnvironment(
  base: NodeJS.ProcessEnv,
  extra: Readonly<Record<string, string | undefined>> = {},
): NodeJS.ProcessEnv {
  const isMisleading = (name: string) => name.startsWith('GIT_TRACE') || MISLEADING.includes(name);
  const kept = Object.entries(withoutStray(base)).filter(([name]) => !isMisleading(name));
  return Object.assign(Object.fromEntries<string | undefined>(kept), {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_PAGER: 'cat',
    GIT_NO_LAZY_FETCH: '1',
    // git before 2.45 does not know the variable above: no protocol is allowed.
    GIT_ALLOW_PROTOCOL: 'none',
    ...extra,
  });
}
