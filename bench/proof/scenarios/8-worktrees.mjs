import { worker } from '../steps.mjs';

const [a, b] = ['a', 'b'].map(worker);

export const kind = 'worktrees of others';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'crewrig/crewrig#736',
    title: "clean-up after a merge removes a worktree with a teammate's draft",
    layout: 'worktrees',
    steps: [
      a.writes('plan.md', 'the plan, not yet committed'),
      b.runs('git worktree remove --force ../worktree-a && git branch -q -D work-a', { harms: true }),
    ],
  },
  {
    report: 'bobmatnyc/trusty-tools#5661',
    title: 'a worktree and its branch are removed, and with them the commits',
    layout: 'worktrees',
    steps: [
      a.writes('report.md', 'the report of A'),
      a.commits('Report', 'report.md'),
      b.runs('git worktree remove --force ../worktree-a && git branch -q -D work-a', { harms: true }),
    ],
  },
  {
    report: 'anthropics/claude-code#76727',
    title: 'a session with a worktree of its own writes into the first checkout',
    layout: 'worktrees',
    steps: [
      a.edits('src/a.js', 'line 3', 'edit of A, in the first checkout', { in: 'primary' }),
      b.writes('src/a.js', 'all of it by B', { in: 'primary', harms: true }),
    ],
  },
  {
    report: 'anthropics/claude-code#59628',
    title: "a reset meant for the session's own worktree hits the first checkout",
    layout: 'worktrees',
    steps: [
      a.edits('src/b.js', 'line 7', 'edit of A, uncommitted', { in: 'primary' }),
      b.runs('git -C ../repository reset -q --hard', { harms: true }),
    ],
  },
];
