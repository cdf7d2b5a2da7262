import { worker } from '../steps.mjs';

const [a, b] = ['a', 'b'].map(worker);

export const kind = 'committed work is undone or rewritten';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'anthropics/claude-code#90943',
    title: "a commit from a private index, older than HEAD, undoes a peer's",
    steps: [
      b.runs('cp .git/index "$TMPDIR/index-b" || cp "$(git rev-parse --git-path index)" "$TMPDIR/index-b"'),
      a.writes('src/feature.js', 'the feature of A'),
      a.commits('Add the feature', 'src/feature.js'),
      b.writes('src/fix.js', 'the fix of B'),
      b.runs('export GIT_INDEX_FILE="$TMPDIR/index-b"; git add src/fix.js && git commit -qm Fix', {
        harms: true,
        whenRefused: b.commits('Fix', 'src/fix.js'),
      }),
    ],
  },
  {
    report: 'anthropics/claude-code#94323',
    title: 'a commit from an empty index deletes every other file',
    steps: [
      a.writes('src/feature.js', 'what A has built'),
      a.commits('Build', 'src/feature.js'),
      b.writes('src/fix.js', 'what B has fixed'),
      b.runs('export GIT_INDEX_FILE="$TMPDIR/empty"; git add src/fix.js && git commit -qm Fix', {
        harms: true,
        whenRefused: b.commits('Fix', 'src/fix.js'),
      }),
    ],
  },
  {
    report: 'daymade/claude-code-skills#421',
    title: 'a commit that bypasses the index, then a bare commit that deletes its files',
    steps: [
      a.writes('skill.md', 'the skill of A'),
      a.runs(
        'export GIT_INDEX_FILE="$TMPDIR/index-a"; git read-tree HEAD && git add skill.md && git update-ref refs/heads/$(git branch --show-current) $(git commit-tree -p HEAD -m "Add a skill" $(git write-tree))',
      ),
      b.writes('other.md', 'the page of B'),
      b.runs('git add other.md && git commit -qm "Add a page"', {
        harms: true,
        whenRefused: b.commits('Add a page', 'other.md'),
      }),
    ],
  },
  {
    report: 'anthropics/claude-code#91513',
    title: "amend rewrites a peer's commit, which has become HEAD",
    steps: [
      a.edits('src/a.js', 'line 1', 'commit of A'),
      a.commits('One', 'src/a.js'),
      b.edits('src/b.js', 'line 1', 'commit of B'),
      b.commits('Two', 'src/b.js'),
      a.runs('git commit -q --amend -m "One, with its ticket"', { harms: true }),
    ],
  },
  {
    report: 'rjmurillo/ai-agents#3413',
    title: "a bare --force-with-lease passes after a sibling's fetch",
    layout: 'worktrees',
    remote: true,
    steps: [
      a.writes('a.md', 'pushed by A'),
      a.commits('Of A', 'a.md'),
      a.runs('git push -q origin HEAD:refs/heads/shared'),
      b.writes('b.md', 'not yet pushed by B'),
      b.commits('Of B', 'b.md'),
      b.runs('git fetch -q origin'),
      b.runs('git push -q --force-with-lease origin HEAD:refs/heads/shared', { harms: true }),
      a.runs('git fetch -q origin && git reset -q --hard origin/shared', { harms: true }),
    ],
  },
  {
    report: 'anthropics/claude-code#87243',
    title: 'two commit messages in one scratch file',
    steps: [
      a.writes('retry.yml', 'retries: 5'),
      a.runs('echo "Try five times" >"$TMPDIR/../commit-msg.txt"', { adds: ['Try five times'] }),
      b.writes('limit.yml', 'limit: 90'),
      b.runs('echo "Limit to ninety" >"$TMPDIR/../commit-msg.txt"', {
        adds: ['Limit to ninety'],
        harms: true,
      }),
      a.runs('git add retry.yml && git commit -qF "$TMPDIR/../commit-msg.txt" -- retry.yml'),
      b.runs('git add limit.yml && git commit -qF "$TMPDIR/../commit-msg.txt" -- limit.yml'),
    ],
  },
];
