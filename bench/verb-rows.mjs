// Rows of the verbs: a small repository, and a list of 10,000 handoffs; the start of a session among 1,000.
import { bareNode, once } from './measure.mjs';
import { registered, session, start } from './scenario.mjs';

const MANY = 10_000;
const SOME = 1000;

export function verbRows(scenario) {
  const inRoot = once(() => {
    const root = scenario.enabled('verbs', 1);
    const options = { cwd: root, env: { ...scenario.env, CLAUDE_CODE_SESSION_ID: session } };
    scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], options);
    return options;
  });
  const row = (name, target, ...args) => ({
    name: `${name}, small repository`,
    unit: '× node',
    target,
    commands: () => ({
      node: bareNode(scenario.env),
      command: { command: scenario.launcher, args, input: '', ...inRoot() },
    }),
    figure: (times) => times.command / times.node,
  });
  return [
    row('write', 2.2, 'write', 'speed-check', '-m', 'goal: be faster'),
    row('show', 1.8, 'show', 'speed-check'),
    row('list', 1.9, 'list'),
    manyRow(scenario),
    startRow(scenario),
  ];
}

/** What a session is told at its start, with many open handoffs on its branch. */
function startRow(scenario) {
  return {
    name: `start of a session, ${SOME} open handoffs`,
    unit: '× node',
    target: 2.6,
    commands: () => {
      const root = scenario.enabled('many open', 1);
      fill(scenario, root, SOME);
      return { node: bareNode(scenario.env), guard: registered(scenario, root, start(root, session)) };
    },
    figure: (times) => times.guard / times.node,
  };
}

/** `list` against git reading the same fields, bare Node taken off. */
function manyRow(scenario) {
  const env = { ...scenario.env, CLAUDE_CODE_SESSION_ID: session };
  const fields = ['refname', 'objectname', 'objecttype', 'symref', 'contents'].map((name) => `%(${name})`);
  const read = [
    'for-each-ref',
    `--format=${fields.join('%00')}`,
    'refs/handoffs',
    'refs/handoffs-local/kept',
  ];
  return {
    name: `list of ${MANY} handoffs, without bare node`,
    unit: '× for-each-ref',
    target: 2.3,
    runs: 5,
    commands: () => {
      const inRoot = { cwd: scenario.enabled('many', 1), env };
      fill(scenario, inRoot.cwd, MANY);
      return {
        node: bareNode(env),
        git: { command: 'git', args: read, ...inRoot },
        list: { command: scenario.launcher, args: ['list', '--all'], ...inRoot },
      };
    },
    figure: (times) => (times.list - times.node) / times.git,
  };
}

/** Fills a repository with so many open handoffs. */
export function fill(scenario, root, count) {
  const inRoot = { cwd: root, env: { ...scenario.env, CLAUDE_CODE_SESSION_ID: session } };
  scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], inRoot);
  scenario.run('git', ['fast-import', '--quiet'], { ...inRoot, input: copies(scenario, inRoot, count) });
  scenario.run('git', ['pack-refs', '--all'], inRoot);
}

/** A fast-import stream with copies of the one handoff under other topics. */
function copies(scenario, inRoot, count) {
  const ref = 'refs/handoffs/main/speed-check';
  const git = (...args) => scenario.run('git', args, inRoot);
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const message = git('log', '-1', '--format=%B', ref);
  const [note, state] = ['handoff.md', 'state.json'].map((name) => git('cat-file', 'blob', `${ref}:${name}`));
  const stream = [];
  for (let n = 1; n < count; n += 1) {
    const topic = `speed-check-${n}`;
    const mark = `:${n}`;
    stream.push(
      `commit refs/handoffs/main/${topic}\nmark ${mark}\ncommitter A <a@example.com> ${1_700_000_000 + n} +0000\n`,
      data(message),
      `M 100644 inline handoff.md\n${data(note)}`,
      `M 100644 inline state.json\n${data(state.replaceAll('speed-check', topic))}`,
      `reset refs/handoffs-local/kept/main/${topic}\nfrom ${mark}\n\n`,
    );
  }
  return stream.join('');
}
