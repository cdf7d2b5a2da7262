/**
 * What the launcher asks git while Node starts. `node scripts/generate-sh.mjs` writes it into bin/git-handoff
 * (shared-words.ts). Pure.
 */

/** git's own names of a ref with all that is read of it. */
export const REF_FORMAT = '%(refname)%00%(objectname)%00%(objecttype)%00%(symref)%00%(raw:size)%00%(raw)';

/** What a write reports as done is on the disk, it waits for the locks of others, and no hook is started. */
export const STORE_SETTINGS = [
  'core.hooksPath=/dev/null',
  'hook.reference-transaction.enabled=false',
  'core.fsync=objects,reference',
  'core.filesRefLockTimeout=1000',
  'reftable.lockTimeout=1000',
];

const storing = STORE_SETTINGS.flatMap((setting) => ['-c', setting]);

/** git-unpack-objects(1), which stores what a pack holds. */
export const UNPACK = ['unpack-objects', '-q'];

/** git-update-ref(1) by words on its standard input, with what the reflogs will say. */
export const transaction = (reflog: readonly string[]) => ['update-ref', '--no-deref', ...reflog, '--stdin'];

/** By what is asked for, for the verbs that are typed most (src/git/begun.ts). */
export const BEGUN = {
  committer: ['var', 'GIT_COMMITTER_IDENT'],
  tree: [
    'status',
    '--porcelain=v2',
    '--branch',
    '-z',
    '--untracked-files=normal',
    '--ignore-submodules=dirty',
  ],
  local: [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    '--',
    'refs/handoffs-local/kept/',
    'refs/handoffs-local/kept-list',
    'refs/handoffs-local/acks/',
    'refs/handoffs-remote/',
    'refs/handoffs-local/pruned/',
    'refs/handoffs-local/shown/',
  ],
  branches: [
    'for-each-ref',
    '--format=%(refname)%00%(objectname)%00%(symref)%00%00',
    '--',
    'refs/heads/',
    'refs/remotes/origin/HEAD',
  ],
  sessions: [
    'for-each-ref',
    `--format=${REF_FORMAT}`,
    '--',
    'refs/handoffs-local/live/',
    'refs/handoffs-local/files/',
  ],
  handoffs: ['for-each-ref', `--format=${REF_FORMAT}`, '--', 'refs/handoffs/'],
  /** Our settings, and those by which remotes are chosen. */
  config: [
    'config',
    '-z',
    '--get-regexp',
    '^(handoff\\..*|remote\\..*\\.(url|pushurl)|branch\\..*\\.remote)$',
  ],
  kept: [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    '--',
    'refs/handoffs-local/kept/',
    'refs/handoffs-local/kept-list',
  ],
  work: [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    '--',
    'refs/handoffs-local/work/',
    'refs/handoffs-local/sent/',
    'refs/handoffs-local/unpacked/',
  ],
  /** What a write ends with (src/git/begun-store.ts). */
  objects: [...storing, ...UNPACK],
  transaction: [...storing, ...transaction(['--create-reflog', '-m', 'handoff: write'])],
} as const;

/** The verbs for which it does. */
export type BegunVerb = 'write' | 'show' | 'list' | 'sync' | 'fetch' | 'push';
