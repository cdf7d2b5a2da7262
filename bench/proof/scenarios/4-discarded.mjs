import { worker } from '../steps.mjs';

const [a, b, c] = ['a', 'b', 'c'].map(worker);

export const kind = 'uncommitted work is thrown away';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'thefrederiksen/devthrottle#3093',
    title: 'reset --hard, meant to update main, discards the work of others',
    remote: true,
    steps: [
      a.edits('README.md', 'the project', 'the ledger of the day'),
      c.edits('src/b.js', 'line 1', 'the memory of the manager'),
      b.runs('git fetch -q && git reset -q --hard origin/main', { harms: true }),
    ],
  },
  {
    report: 'anthropics/claude-code#40697',
    title: 'reset --hard again and again, as a habit',
    steps: [
      a.edits('src/a.js', 'line 2', 'first try'),
      b.runs('git reset -q --hard', { harms: true }),
      a.writes('src/c.js', 'second try'),
      b.runs('git add -A && git reset -q --hard', { harms: true }),
    ],
  },
  {
    report: 'AndyMik90/Aperant#1477',
    title: 'clean -fd removes files that nobody has committed yet',
    steps: [
      a.writes('plan/tasks.md', 'the tasks of A'),
      b.writes('tmp/out.txt', 'output of a build'),
      b.runs('git clean -fdq', { harms: true, drops: ['output of a build'] }),
    ],
  },
  {
    report: 'damianvtran/local-operator#757',
    title: 'a whole file is undone where only a hunk was meant',
    steps: [
      a.edits('shared.md', 'line 2', 'rule of A'),
      b.runs("sed -i 's/^line 8$/mistake of B/' shared.md", { adds: ['mistake of B'] }),
      b.runs('git checkout -q -- shared.md', { harms: true, drops: ['mistake of B'] }),
    ],
  },
  {
    report: 'openai/codex#8213',
    title: 'a session reverts changes that it did not make',
    steps: [
      a.edits('src/a.js', 'line 4', 'deliberate 4'),
      b.edits('src/b.js', 'line 4', 'asked for 4'),
      b.runs('git restore src/a.js', { harms: true }),
      b.commits('What was asked for', 'src/b.js'),
    ],
  },
  {
    report: 'Field-Guide/construction-inspector-tracking-app#86',
    title: 'a folder is checked out to undo a few files in it',
    steps: [
      a.edits('src/a.js', 'line 1', 'days of work'),
      b.edits('src/b.js', 'line 1', 'damaged'),
      b.runs('git checkout -q -- src', {
        harms: true,
        drops: ['damaged'],
        whenRefused: b.runs('git checkout -q -- src/b.js', { drops: ['damaged'] }),
      }),
    ],
  },
  {
    report: 's4k10503/velvet#591',
    title: 'a script rewrites files that its command does not name',
    files: {
      'scripts/format.mjs':
        "import { writeFileSync } from 'node:fs';\nfor (const name of ['a', 'b']) writeFileSync(`src/${name}.js`, 'formatted\\n');\n",
    },
    steps: [
      a.edits('src/a.js', 'line 6', 'being written 6'),
      b.runs('node scripts/format.mjs', { harms: true, adds: ['formatted'] }),
    ],
  },
  {
    report: 'deftai/directive#3917',
    title: 'a session resets its own changes, and nobody else has any',
    steps: [
      a.edits('src/a.js', 'line 5', 'kept 5'),
      a.commits('Keep five', 'src/a.js'),
      b.edits('src/b.js', 'line 5', 'not needed'),
      b.runs('git reset -q --hard', { drops: ['not needed'] }),
    ],
  },
  {
    report: 'anthropics/claude-code#90146',
    title: 'two sessions get one worktree, and both write the same new file',
    steps: [
      a.writes('src/new.js', 'the file as A has it'),
      b.writes('src/new.js', 'the file as B has it', {
        harms: true,
        whenRefused: b.writes('src/new-b.js', 'the file as B has it'),
      }),
    ],
  },
];
