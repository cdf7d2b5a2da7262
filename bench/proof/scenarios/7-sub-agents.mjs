import { worker } from '../steps.mjs';

const [x, y, z] = ['a/x', 'a/y', 'a/z'].map(worker);

export const kind = 'sub-agents of one session';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'coolify-terraform/terraform-provider-coolify#68',
    title: 'one of three sub-agents stages all tracked changes',
    steps: [
      x.edits('src/a.js', 'line 1', 'resource of x'),
      y.edits('src/b.js', 'line 1', 'resource of y'),
      z.edits('shared.md', 'line 1', 'resource of z'),
      x.runs('git add -u && git commit -qm "Resource of x"', {
        harms: true,
        whenRefused: x.commits('Resource of x', 'src/a.js'),
      }),
      y.commits('Resource of y', 'src/b.js'),
      z.commits('Resource of z', 'shared.md'),
    ],
  },
  {
    report: 'jpicklyk/task-orchestrator#301',
    title: 'siblings commit at the same time; one gets nothing to commit',
    steps: [
      x.writes('x.md', 'task of x'),
      y.writes('y.md', 'task of y'),
      x.runs('git add -A'),
      y.runs('git commit -qm "Task of y"', { harms: true, whenRefused: y.commits('Task of y', 'y.md') }),
      x.commits('Task of x', 'x.md'),
    ],
  },
  {
    report: 'anthropics/claude-code#62122',
    title: 'each makes its own branch in the working tree that all share',
    steps: [
      x.runs('git checkout -q -b feature/x', { goesTo: 'feature/x' }),
      x.writes('x.js', 'feature of x'),
      y.runs('git checkout -q -b feature/y', { harms: true, goesTo: 'feature/y' }),
      x.commits('Feature of x', 'x.js'),
      x.stops(),
      y.writes('y.js', 'feature of y'),
      y.commits('Feature of y', 'y.js', {
        harms: true,
        whenRefused: [y.runs('git switch -q main'), y.commits('Feature of y', 'y.js')],
      }),
      y.stops(),
    ],
  },
  {
    report: 'obra/superpowers#1543',
    title: 'a reviewer looks at the parent commit by checking it out',
    prepare: 'git commit -q --allow-empty -m Second',
    steps: [
      x.edits('src/a.js', 'line 2', 'implemented 2'),
      x.commits('Implement two', 'src/a.js'),
      x.stops(),
      y.runs('git checkout -q HEAD~1', { harms: true }),
      y.stops(),
      z.edits('src/b.js', 'line 2', 'implemented 22'),
      z.commits('Implement twenty-two', 'src/b.js', {
        harms: true,
        whenRefused: [z.runs('git switch -q main'), z.commits('Implement twenty-two', 'src/b.js')],
      }),
    ],
  },
  {
    report: 'laurigates/claude-plugins#2370',
    title: "a sibling's file is rewritten as a whole",
    steps: [
      x.edits('shared.md', 'line 3', 'defect of x fixed'),
      y.writes('shared.md', 'rewritten by y', { harms: true }),
      x.commits('Fix the defect', 'shared.md'),
    ],
  },
];
