// Rows of the git hooks: what they add to `git commit`.
import { bareNode, bareShell, once } from './measure.mjs';
import { session } from './scenario.mjs';

const commit = (scenario, root, more = {}) => ({
  command: 'git',
  args: ['commit', '-q', '--allow-empty', '-m', 'fix: one thing'],
  cwd: root,
  env: { ...scenario.env, ...more },
});

export function commitRows(scenario) {
  const plain = once(() => commit(scenario, scenario.repository('plain')));
  const inSession = { CLAUDE_CODE_SESSION_ID: session };
  const inShells = (name, sessions, target, env) => ({
    name: `commit with our hooks, ${name}`,
    unit: 'sh starts',
    target,
    times: 2,
    commands: () => ({
      plain: plain(),
      shell: bareShell(scenario.env),
      hooked: commit(scenario, scenario.enabled(`commit, ${name}`, sessions), env),
    }),
    figure: (times) => (times.hooked - times.plain) / times.shell,
  });
  return [
    inShells('no session', 0, 3),
    inShells('solo session', 1, 6, inSession),
    {
      name: 'commit with our hooks, with a peer',
      unit: '× node more',
      target: 1.8,
      commands: () => ({
        plain: plain(),
        node: bareNode(scenario.env),
        hooked: commit(scenario, scenario.enabled('commit, peer', 2), inSession),
      }),
      figure: (times) => (times.hooked - times.plain) / times.node,
    },
  ];
}
