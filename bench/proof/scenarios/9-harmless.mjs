import { worker } from '../steps.mjs';

const [a, b] = ['a', 'b'].map(worker);

export const kind = 'calls that guards have refused wrongly';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'Dicklesworthstone/destructive_command_guard#393',
    title: 'a commit message that mentions a restore',
    steps: [
      a.edits('src/a.js', 'line 1', 'beside it'),
      b.edits('src/b.js', 'line 1', 'documented'),
      b.runs(
        "git add src/b.js && git commit -q -F - -- src/b.js <<'EOF'\nExplain how to come back\n\nNever git reset --hard or git restore src/a.js.\nEOF",
      ),
    ],
  },
  {
    report: 'roadhero/claude-code-setup#2',
    title: 'a file whose text has dangerous commands in it',
    steps: [
      a.edits('src/a.js', 'line 2', 'someone is at work'),
      b.runs("cat >docs.md <<'EOF'\nDo not run git push -f or git clean -fdx here.\nEOF", {
        adds: ['Do not run git push -f or git clean -fdx here.'],
      }),
      b.runs('git add docs.md && git commit -qm "Say what not to run"'),
    ],
  },
  {
    report: 'anthony-chaudhary/fak#3817',
    title: 'a session rewords its own last commit',
    steps: [
      a.edits('src/a.js', 'line 3', 'unrelated and uncommitted'),
      b.edits('src/b.js', 'line 3', 'mine'),
      b.commits('Mien', 'src/b.js'),
      b.runs('git commit -q --amend -m Mine'),
    ],
  },
  {
    report: 'optave/ops-codegraph-tool#1457',
    title: 'a session changes its own files with sed and printf',
    steps: [
      a.edits('src/a.js', 'line 4', 'of the other'),
      b.runs("sed -i 's/^line 4$/by sed/' src/b.js && printf 'by printf\\n' >printed.txt", {
        adds: ['by sed', 'by printf'],
      }),
      b.runs('git add src/b.js printed.txt && git commit -qm "Change by tools"'),
    ],
  },
  {
    report: 'optave/ops-codegraph-tool#2602',
    title: 'two sessions each have a new file in the same new folder',
    steps: [
      a.writes('fresh/a.md', 'page of A'),
      b.writes('fresh/b.md', 'page of B'),
      b.runs('git add fresh/b.md && git commit -qm "Page of B"'),
      a.runs('git add fresh/a.md && git commit -qm "Page of A"'),
    ],
  },
  {
    report: 'rjmurillo/ai-agents#4704',
    title: 'a merge that brings in what others have committed',
    prepare:
      'git switch -q -c topic && echo "from the topic" >topic.md && git add topic.md && git commit -qm Topic && git switch -q main',
    steps: [
      a.edits('src/a.js', 'line 5', 'not part of it'),
      b.writes('main.md', 'from the main line'),
      b.commits('Main line', 'main.md'),
      b.runs('git merge -q --no-edit topic'),
    ],
  },
  {
    report: 'arbiterForge/codeArbiter#169',
    title: 'a commit message with semicolons, quotes and a path',
    steps: [
      a.edits('src/a.js', 'line 6', 'not concerned'),
      b.edits('src/b.js', 'line 6', 'checkpointed'),
      b.runs(`git add src/b.js && git commit -qm 'Save; then "stop" (see src/a.js; /checkpoint)'`),
    ],
  },
  {
    report: 'deftai/directive#3613',
    title: 'a file is needed whose owner has crashed',
    steps: [
      a.edits('src/a.js', 'line 7', 'half of it'),
      a.crashes(),
      b.edits('src/a.js', 'line 8', 'the other half'),
    ],
  },
  {
    report: 'akaszubski/autonomous-dev#942',
    title: 'a working day of ordinary commands beside a peer',
    steps: [
      a.edits('src/a.js', 'line 9', 'of a long day'),
      b.runs('git status --short && git diff --stat && git log --oneline -3'),
      b.runs('grep -rn "line 1" src | head -3; wc -l src/*.js; cat README.md'),
      b.writes('test/b.test.js', 'test one'),
      b.runs('mkdir -p build && cp test/b.test.js build/out.js && rm -r build'),
      b.runs('git add test && git commit -qm "Test b"'),
      b.edits('test/b.test.js', 'test one', 'test one and two'),
      b.runs('git diff -- test && git checkout -q -- test/b.test.js', { drops: ['test one and two'] }),
      b.runs('git branch topic-b && git branch -q -d topic-b && git tag v1 && git show --stat HEAD'),
    ],
  },
];
