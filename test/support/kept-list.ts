const KEPT = 'refs/handoffs-local/kept/';

/** One list of what was accepted of many handoffs, instead of a ref for each (src/git/ref-lists.ts). */
export const KEPT_LIST = 'refs/handoffs-local/kept-list';

interface WithGit {
  git(args: readonly string[], options?: { input?: string }): string;
}

/** Makes of all that was kept in a repository what a first fetch of thousands leaves. */
export function keepInList(repo: WithGit): void {
  const refs = repo.git(['for-each-ref', '--format=%(objectname) %(refname)', KEPT]).split('\n');
  const lines = refs.map((line) => `${line.replace(KEPT, '')}\n`).join('');
  repo.git(['update-ref', KEPT_LIST, repo.git(['hash-object', '-w', '--stdin'], { input: lines })]);
  for (const line of refs) repo.git(['update-ref', '-d', line.split(' ')[1] ?? '']);
}
