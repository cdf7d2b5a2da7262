// Rows of the git hooks: what they add to `git commit`.
import { bareNode, bareShell } from './measure.mjs';
import { session } from './scenario.mjs';

const commit = (scenario, root, more = {}) => ({
  command: 'git',
  args: ['commit', '-q', '--allow-empty', '-m', 'fix: one thing'],
  cwd: root,
  env: { ...scenario.env, ...more },
});

export function commitRows(scenario) {
  const plain = commit(scenario, scenario.repository('plain'));
  const inSession = { CLAUDE_CODE_SESSION_ID: session };
  const inShells = (name, hooked, target) => ({
    name,
    unit: 'sh starts',
    target,
    commands: { plain, shell: bareShell(scenario.env), hooked },
    figure: (times) => (times.hooked - times.plain) / times.shell,
  });
  return [
    inShells('commit with our hooks, no session', commit(scenario, scenario.enabled('commit, none', 0)), 3),
    inShells(
      'commit with our hooks, solo session',
      commit(scenario, scenario.enabled('commit, solo', 1), inSession),
      6,
    ),
    {
      name: 'commit with our hooks, with a peer',
      unit: '× node more',
      target: 1.5,
      commands: {
        plain,
        node: bareNode(scenario.env),
        hooked: commit(scenario, scenario.enabled('commit, peer', 2), inSession),
      },
      figure: (times) => (times.hooked - times.plain) / times.node,
    },
  ];
}
