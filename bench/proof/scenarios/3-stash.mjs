import { worker } from '../steps.mjs';

const [a, b, c] = ['a', 'b', 'c'].map(worker);

export const kind = 'one stash for all';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'pathosDev/actor-ts#1446',
    title: 'two worktrees stash in the same minute, and each pops',
    layout: 'worktrees',
    steps: [
      a.edits('src/a.js', 'line 1', 'storage 1'),
      b.edits('src/b.js', 'line 1', 'projection 1'),
      a.runs('git stash push -q'),
      b.runs('git stash push -q'),
      a.runs('git stash pop -q', { harms: true, whenRefused: a.runs('git stash pop -q stash@{1}') }),
      b.runs('git stash pop -q'),
    ],
  },
  {
    report: 'objectstack-ai/objectui#3430',
    title: "A pops B's entry, and commits what was in it",
    layout: 'worktrees',
    steps: [
      a.edits('src/a.js', 'line 2', 'picker 2'),
      a.runs('git stash push -q -- src/a.js'),
      b.edits('src/b.js', 'line 2', 'drawer 2'),
      b.runs('git stash push -q'),
      a.runs('git stash pop -q && git commit -qam "Fix the picker"', {
        harms: true,
        whenRefused: a.runs('git stash pop -q stash@{1} && git commit -qam "Fix the picker"'),
      }),
      b.runs('git stash pop -q'),
    ],
  },
  {
    report: 'ShaftHQ/SHAFT_ENGINE#4130',
    title: "with nothing to stash, pop applies another session's old entry",
    layout: 'worktrees',
    steps: [
      a.edits('src/a.js', 'line 4', 'metrics 4'),
      a.runs('git stash push -q'),
      b.runs('git stash; git stash pop', { harms: true }),
      a.runs('git stash pop -q'),
    ],
  },
  {
    report: 'kent-tokyo/chematic#218',
    title: 'three agents; the last to pop finds the wrong entry and drops it',
    layout: 'worktrees',
    steps: [
      a.edits('src/a.js', 'line 6', 'ring 6'),
      b.edits('src/b.js', 'line 6', 'bond 6'),
      a.runs('git stash push -q'),
      b.runs('git stash push -q'),
      c.runs('git stash drop -q', { harms: true }),
      b.runs('git stash pop -q'),
      a.runs('git stash pop -q'),
    ],
  },
  {
    report: 'martymcenroe/AssemblyZero#2364',
    title: "stash -u sweeps another's untracked files",
    steps: [
      a.writes('draft/one.md', 'draft one'),
      a.writes('draft/two.md', 'draft two'),
      b.edits('src/b.js', 'line 8', 'clean 8'),
      b.runs('git stash push -q -u', { harms: true, drops: ['clean 8'] }),
    ],
  },
  {
    report: 'Jamie-BitFlight/claude_skills#2895',
    title: 'a quick look at a clean baseline, by stash and pop',
    steps: [
      a.edits('src/a.js', 'line 9', 'in progress 9'),
      b.edits('src/b.js', 'line 9', 'to be compared 9'),
      b.runs('git stash push -q', { harms: true }),
      a.edits('src/a.js', 'line 2', 'in progress 2'),
      b.runs('git stash pop -q', { harms: true }),
    ],
  },
  {
    report: 'mattias800/prosper#3234',
    title: 'each session pops its own entry, by name',
    layout: 'worktrees',
    steps: [
      a.edits('src/a.js', 'line 10', 'kernel 10'),
      a.runs('git stash push -q'),
      a.runs('git stash pop -q'),
      b.edits('src/b.js', 'line 10', 'loader 10'),
      b.runs('git stash push -q'),
      b.runs('git stash pop -q'),
    ],
  },
  {
    report: 'woojubb/robota#1584',
    title: 'a hook stashes the whole tree for a check, and breaks before it pops',
    prepare:
      "printf '#!/bin/sh\\ngit stash push -q -k -u\\nexit 1\\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
    steps: [
      a.edits('src/a.js', 'line 3', 'half done 3'),
      b.edits('src/b.js', 'line 3', 'done 3'),
      b.runs('git add src/b.js && git commit -qm Done', { harms: true }),
    ],
  },
];
