// Rows of the verbs, in a small repository and in one with many notes.
import { join } from 'node:path';
import { once } from './measure.mjs';
import { bareNode, inSession, registered, session, start } from './scenario.mjs';

const MANY = 10_000;
const SOME = 1000;

export function verbRows(scenario) {
  const env = inSession(scenario);
  const filled = (name, count) => {
    const root = scenario.enabled(name, 1);
    fill(scenario, root, count);
    return { cwd: root, env };
  };
  const many = once(() => filled('many', MANY));
  return [
    ...smallRows(scenario, env),
    listRow(scenario, many),
    startRow(scenario, filled),
    fetchRow(scenario, many),
  ];
}

function smallRows(scenario, env) {
  const inRoot = once(() => {
    const options = { cwd: scenario.enabled('small', 1), env };
    scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], options);
    return options;
  });
  const row = (target, ...args) => ({
    name: args[0],
    unit: '× node',
    target,
    commands: () => ({
      node: bareNode(scenario),
      command: { command: scenario.launcher, args, input: '', ...inRoot() },
    }),
    figure: (times) => times.command / times.node,
  });
  return [
    row(2.6, 'write', 'speed-check', '-m', 'goal: be faster'),
    row(2.1, 'show', 'speed-check'),
    row(2.1, 'list'),
  ];
}

/** The time of `list`, less that of bare Node, compared with git reading the same fields. */
function listRow(scenario, many) {
  const fields = ['refname', 'objectname', 'objecttype', 'symref', 'contents'].map((name) => `%(${name})`);
  const format = `--format=${fields.join('%00')}`;
  const args = ['for-each-ref', format, 'refs/handoffs', 'refs/handoffs-local/kept'];
  return {
    name: `list of ${MANY} notes, without bare node`,
    unit: '× for-each-ref',
    target: 2.8,
    runs: 5,
    commands: () => ({
      node: bareNode(scenario),
      git: { command: 'git', args, ...many() },
      list: { command: scenario.launcher, args: ['list', '--all'], ...many() },
    }),
    figure: (times) => (times.list - times.node) / times.git,
  };
}

/** The start of a session with many open notes on its branch. */
function startRow(scenario, filled) {
  return {
    name: `start of a session among ${SOME} notes`,
    unit: '× node',
    target: 3.8,
    commands: () => {
      const { cwd } = filled('some', SOME);
      return { node: bareNode(scenario), start: registered(scenario, cwd, start(cwd, session)) };
    },
    figure: (times) => times.start / times.node,
  };
}

/** Fetches into a new clone each time, from a remote with a new name, so that nothing about it is recorded yet. */
function fetchRow(scenario, many) {
  const fresh = (line) => ({
    command: 'sh',
    args: [
      '-c',
      `fresh=$0/fresh-$$ && git init -q --bare "$fresh" && cd "$fresh" && ${line}`,
      join(many().cwd, '..'),
      scenario.launcher,
    ],
    ...many(),
  });
  return {
    name: `first fetch of ${MANY} notes, without bare node`,
    unit: '× git',
    target: 4,
    runs: 5,
    commands: () => ({
      node: bareNode(scenario),
      git: fresh(`git fetch -q --no-tags "$OLDPWD" '+refs/handoffs/*:refs/handoffs/*'`),
      ours: fresh(`git config remote.r$$.url "$OLDPWD" && "$1" fetch r$$`),
    }),
    figure: (times) => (times.ours - times.node) / times.git,
  };
}

/** Fills a repository with this many open notes. */
export function fill(scenario, root, count) {
  const inRoot = { cwd: root, env: inSession(scenario) };
  scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], inRoot);
  scenario.run('git', ['fast-import', '--quiet'], { ...inRoot, input: copies(scenario, inRoot, count) });
  scenario.run('git', ['pack-refs', '--all'], inRoot);
}

/** A fast-import stream with copies of one note under other topics. */
function copies(scenario, inRoot, count) {
  const ref = 'refs/handoffs/main/speed-check';
  const git = (...args) => scenario.run('git', args, inRoot);
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

/** A text as git-fast-import(1) reads it. */
export const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
