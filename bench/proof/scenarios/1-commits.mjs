import { worker } from '../steps.mjs';

const [a, b, c] = ['a', 'b', 'c'].map(worker);

export const kind = 'a commit takes more than its own';

/** @type {import('../play.mjs').Scenario[]} */
export const scenarios = [
  {
    report: 'anthropics/claude-code#88862',
    title: 'three sessions edit, one stages everything',
    steps: [
      a.writes('retry.yml', 'retries: 3'),
      c.edits('src/a.js', 'line 2', 'timeout 20'),
      b.writes('limit.yml', 'limit: 60'),
      b.runs('git add -A && git commit -q -m Limit', {
        harms: true,
        whenRefused: b.commits('Limit', 'limit.yml'),
      }),
      a.commits('Retries', 'retry.yml'),
      c.commits('Timeout', 'src/a.js'),
    ],
  },
  {
    report: 'pjt222/agent-almanac#592',
    title: "a peer's untracked draft looks like one's own new file",
    steps: [
      a.writes('notes/tiles.md', 'a draft about tiles'),
      b.edits('src/b.js', 'line 4', 'const literal = 4'),
      b.runs('git add -A && git commit -qm "Name the literal"', {
        harms: true,
        whenRefused: b.commits('Name the literal', 'src/b.js'),
      }),
    ],
  },
  {
    report: 'EthicalML/ethical#53',
    title: "a whole folder is committed, and the next switch deletes another's file in it",
    steps: [
      a.writes('skills/letter/SKILL.md', 'how to write the letter'),
      b.runs('git switch -q -c feat/skills', { goesTo: 'feat/skills', harms: true }),
      b.writes('skills/review/SKILL.md', 'how to review'),
      b.runs('git add skills && git commit -qm Review', {
        harms: true,
        whenRefused: b.commits('Review', 'skills/review/SKILL.md'),
      }),
      b.runs('git switch -q main', { harms: true, goesTo: 'main' }),
    ],
  },
  {
    report: 'damianvtran/local-operator#749',
    title: 'commit -a takes a file that another has modified',
    steps: [
      a.edits('src/a.js', 'line 3', 'measured 3'),
      b.edits('src/b.js', 'line 3', 'reviewed 3'),
      b.runs('git commit -qam Review', { harms: true, whenRefused: b.commits('Review', 'src/b.js') }),
      a.commits('Measure', 'src/a.js'),
    ],
  },
  {
    report: 'sero-labs/sero#443',
    title: 'a bare commit takes what a peer has staged',
    steps: [
      a.writes('secret-storage.md', 'research about storage'),
      a.runs('git add secret-storage.md'),
      b.writes('fitness.md', 'research about fitness'),
      b.runs('git add fitness.md && git commit -qm Fitness', {
        harms: true,
        whenRefused: b.commits('Fitness', 'fitness.md'),
      }),
      a.runs('git commit -qm Storage -- secret-storage.md'),
    ],
  },
  {
    report: 'chitinhq/agentguard#791',
    title: "a commit includes a peer's staged deletions",
    files: { 'old/one.js': 'one\n', 'old/two.js': 'two\n' },
    steps: [
      a.runs('git rm -q -r old', { removes: ['one', 'two'] }),
      a.writes('new.js', 'one and two'),
      b.writes('scope.js', 'the scope guard'),
      b.runs('git add scope.js && git commit -qm Scope', {
        harms: true,
        whenRefused: b.commits('Scope', 'scope.js'),
      }),
      a.runs('git add new.js && git commit -qm "Join one and two"'),
    ],
  },
  {
    report: 'anthony-chaudhary/dos-kernel#207',
    title: 'two sessions change one file, and one commits it whole',
    steps: [
      a.edits('shared.md', 'line 1', 'the part of the first'),
      b.runs("sed -i 's/^line 9$/the part of the second/' shared.md", { adds: ['the part of the second'] }),
      b.runs('git commit -qm "My part" -- shared.md', { harms: true }),
      a.commits('First part', 'shared.md'),
    ],
  },
  {
    report: 'HomericIntelligence/Mnemosyne#2382',
    title: 'a commit meant for two files takes those of a peer, too',
    steps: [
      a.writes('loop/1.md', 'loop state one'),
      a.writes('loop/2.md', 'loop state two'),
      a.edits('README.md', 'the project', 'the project, looped'),
      b.edits('src/a.js', 'line 1', 'fixed 1'),
      b.edits('src/b.js', 'line 1', 'fixed 1 too'),
      b.runs('git add . && git commit -qm "Fix what the review found"', {
        harms: true,
        whenRefused: b.commits('Fix what the review found', ['src/a.js', 'src/b.js']),
      }),
    ],
  },
];
