// Rows of what travels: the first push and the first fetch of 10,000 handoffs, and a sync that has nothing to do.
import { join } from 'node:path';
import { bareNode, once } from './measure.mjs';
import { session } from './scenario.mjs';
import { fill } from './verb-rows.mjs';

const MANY = 10_000;
const SPEC = 'refs/handoffs/*:refs/handoffs/*';

export function travelRows(scenario) {
  const root = once(() => {
    const filled = scenario.enabled('travels', 1);
    fill(scenario, filled, MANY);
    return filled;
  });
  const env = { ...scenario.env, CLAUDE_CODE_SESSION_ID: session };
  // A fresh other side each time, by a name that was never used: nothing is known of it.
  const fresh = (line) => ({
    command: 'sh',
    args: [
      '-c',
      `export fresh="$0/fresh-$$" && git init -q --bare "$fresh" && ${line}`,
      join(root(), '..'),
      scenario.launcher,
    ],
    cwd: root(),
    env,
  });
  const row = (name, target, git, ours) => ({
    name,
    unit: '× git',
    target,
    runs: 5,
    commands: () => ({ node: bareNode(env), git: fresh(git), ours: fresh(ours) }),
    figure: (times) => (times.ours - times.node) / times.git,
  });
  const named = 'git config remote.r$$.url';
  return [
    row(
      `first push of ${MANY} handoffs, without bare node`,
      1.7,
      `git push -q "$fresh" '${SPEC}'`,
      `${named} "$fresh" && "$1" push r$$`,
    ),
    row(
      `first fetch of ${MANY} handoffs, without bare node`,
      2,
      `cd "$fresh" && git fetch -q --no-tags "$OLDPWD" '+${SPEC}'`,
      `cd "$fresh" && ${named} "$OLDPWD" && "$1" fetch r$$`,
    ),
    nothingRow(scenario, env),
  ];
}

/** Against the two commands with which git alone would look. */
function nothingRow(scenario, env) {
  const synced = () => {
    const root = scenario.enabled('nothing to sync', 1);
    const inRoot = { cwd: root, env };
    const bare = `${root}.git`;
    scenario.run('git', ['init', '-q', '--bare', bare], inRoot);
    scenario.run('git', ['remote', 'add', 'origin', bare], inRoot);
    scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], inRoot);
    scenario.run(scenario.launcher, ['sync'], inRoot);
    return inRoot;
  };
  const fetch = "git fetch -q --no-tags origin '+refs/handoffs/*:refs/handoffs-remote/origin/*'";
  return {
    name: 'sync with nothing to do',
    unit: '× two git + node',
    target: 1.3,
    commands: () => {
      const inRoot = synced();
      return {
        node: bareNode(env),
        git: { command: 'sh', args: ['-c', `${fetch} && git push -q origin '${SPEC}'`], ...inRoot },
        ours: { command: scenario.launcher, args: ['sync'], ...inRoot },
      };
    },
    figure: (times) => times.ours / (times.git + times.node),
  };
}
