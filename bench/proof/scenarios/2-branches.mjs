import { worker } from '../steps.mjs';

const [a, b] = ['a', 'b'].map(worker);

export const kind = 'the branch changes under a session';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'anthropics/claude-code#60295',
    title: 'B goes back to main while A works on its branch',
    steps: [
      a.runs('git switch -q -c feat/a', { goesTo: 'feat/a' }),
      a.writes('form.js', 'the form of A'),
      b.runs('git checkout -q main', { harms: true }),
      a.commits('Add the form', 'form.js'),
    ],
  },
  {
    report: 'optave/ops-codegraph-tool#2379',
    title: 'B switches to the branch of another pull request',
    steps: [
      a.runs('git branch feat/other && git switch -q -c feat/a', { goesTo: 'feat/a' }),
      a.writes('graph.js', 'the first edge'),
      a.commits('Add an edge', 'graph.js'),
      b.runs('git checkout -q feat/other', { harms: true }),
      a.writes('graph2.js', 'the second edge'),
      a.commits('Add another edge', 'graph2.js', {
        harms: true,
        whenRefused: [a.runs('git switch -q feat/a'), a.commits('Add another edge', 'graph2.js')],
      }),
    ],
  },
  {
    report: 'Embassy-of-the-Free-Mind/sourcelibrary-v2#505',
    title: 'B begins a branch of its own between an edit and its commit',
    steps: [
      a.edits('src/a.js', 'line 5', 'cover 5'),
      b.runs('git switch -q -c feat/b', { harms: true, goesTo: 'feat/b' }),
      b.writes('reader.js', 'the reader'),
      b.commits('Add the reader', 'reader.js'),
      a.commits('Show the cover', 'src/a.js'),
    ],
  },
  {
    report: 'anthropics/claude-code#60672',
    title: 'B switches with --discard-changes, for a clean start',
    prepare: 'git branch feat/b',
    steps: [
      a.edits('src/a.js', 'line 7', 'unsaved 7'),
      b.runs('git switch -q --discard-changes feat/b', { harms: true }),
    ],
  },
];
