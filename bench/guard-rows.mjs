// Rows of the guard, and of the git hooks.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from './measure.mjs';
import { manyFiles } from './growth-rows.mjs';
import { bareNode, inSession, registered, source, stop, toolCall } from './scenario.mjs';

/** The mean time of a row's calls, as a multiple of a start of Node. */
const inNodes = ({ node, ...calls }) =>
  Object.values(calls).reduce((sum, ms) => sum + ms, 0) / Object.keys(calls).length / node;

/** A row of calls for which the guard prints nothing. */
const row = (scenario, name, target, root, payloads) => ({
  name: `guard, ${name}`,
  unit: '× node',
  target,
  commands: () => {
    const calls = payloads(root()).map((payload) => ({
      ...registered(scenario, root(), payload),
      silent: true,
    }));
    return { node: bareNode(scenario), ...calls };
  },
  figure: inNodes,
});

const write = (root, bytes, more) => {
  const input = { file_path: join(root, 'src', 'a.ts'), content: source(bytes) };
  return toolCall(root, 'Write', input, more);
};
const shell = (root, command, more) => toolCall(root, 'Bash', { command }, more);
const printed = (bytes) => ({ tool_response: { stdout: source(bytes), stderr: '' } });

function notEnabled(scenario) {
  const root = once(() => scenario.repository('not enabled'));
  return [
    row(scenario, 'not enabled, 2 KB', 0.3, root, (at) => [write(at, 1500)]),
    row(scenario, 'not enabled, 100 KB', 0.4, root, (at) => [write(at, 100_000)]),
  ];
}

/** The guard is only asked about the commands; they are never run. */
function lone(scenario) {
  const root = once(() => scenario.enabled('lone', 1));
  const listed = ['git status', 'ls -la', 'cat src/a.ts'];
  const harmless = ['npm test', 'node build.js --fast'];
  const all = (commands, more) => (at) => commands.map((command) => shell(at, command, more));
  const analysed = all(['git checkout -b x && sed -i s/1/2/ src/a.ts']);
  return [
    row(scenario, 'lone, before a file tool, 2 KB', 0.4, root, (at) => [write(at, 1500)]),
    row(scenario, 'lone, after a file tool, 2 KB', 0.4, root, (at) => [
      write(at, 1500, { tool_response: {} }),
    ]),
    row(scenario, 'lone, before an allow-listed command', 0.4, root, all(listed)),
    row(scenario, 'lone, after an allow-listed command, 2 KB', 0.4, root, all(listed, printed(1500))),
    row(scenario, 'lone, before a command that one test finds harmless', 1.35, root, all(harmless)),
    row(scenario, 'lone, before a command that is analysed', 1.9, root, analysed),
  ];
}

function besidePeer(scenario) {
  const root = once(() => scenario.enabled('beside a peer', 2));
  const edit = (at) => {
    const input = { file_path: join(at, 'src', 'a.ts'), old_string: '1', new_string: '2' };
    return [toolCall(at, 'Edit', input)];
  };
  const command = (at) => [shell(at, 'sed -i s/1/2/ src/a.ts && git add src && npm test')];
  const written = once(() => {
    const at = scenario.enabled('written beside a peer', 2);
    writeFileSync(join(at, 'src', 'a.ts'), 'export const a = 2;\n');
    return at;
  });
  return [
    row(scenario, 'beside a peer, before a file tool', 1.75, root, edit),
    row(scenario, 'beside a peer, before a shell tool', 2.5, root, command),
    row(scenario, 'beside a peer, after a Write', 2, written, (at) => [write(at, 1, { tool_response: {} })]),
    ...hostile(scenario, root),
  ];
}

/** Texts that are costly to parse when they are repeated. */
const COSTLY = ['> ', '$(', '<<E ', '"', '{a,', 'a;'];

function hostile(scenario, root) {
  const calls = (kilobytes) =>
    COSTLY.map((unit) => {
      const command = `echo handoff ${unit.repeat((kilobytes * 1000) / unit.length)}`;
      return registered(scenario, root(), shell(root(), command));
    });
  return [
    {
      name: 'guard, beside a peer, hostile command of 200 KB, worst of 6',
      unit: '× node',
      target: 6,
      runs: 7,
      commands: () => ({ node: bareNode(scenario), ...calls(200) }),
      figure: ({ node, ...all }) => Math.max(...Object.values(all)) / node,
    },
    {
      name: 'guard, beside a peer, hostile command doubled (100, 200, 400 KB), worst of 6',
      unit: '×',
      target: 2.3,
      runs: 7,
      commands: () => ({ ...[100, 200, 400].flatMap(calls) }),
      figure: (times) =>
        Math.max(...COSTLY.flatMap((_, n) => [times[n + 6] / times[n], times[n + 12] / times[n + 6]])),
    },
  ];
}

/**
 * The snapshot at the end of a turn, in a tree where one of many files has changed since the last turn. From its time we
 * subtract that of a call that asks git only for its settings. The unit is a run of `git stash create`.
 */
function endOfTurn(scenario) {
  const root = once(() => scenario.enabled('turns', 1, manyFiles(scenario, TREE_FILES)));
  // Each round needs new content, because the same content is kept only once.
  const change = 'echo $$ >src/a.ts';
  const changed = (command) => {
    const [shell, script] = command.args;
    return { ...command, args: [shell, `${change}; ${script}`] };
  };
  return {
    name: `guard, at the end of a turn, ${TREE_FILES} files`,
    unit: '× stash create',
    target: 1.2,
    isBound: true,
    commands: () => {
      const call = (payload) => changed(registered(scenario, root(), payload));
      const stash = changed({
        ...registered(scenario, root(), ''),
        args: ['-c', 'git stash create >/dev/null'],
      });
      const other = call(shell(root(), 'git checkout -b x && sed -i s/1/2/ src/a.ts'));
      return { stash, other, stop: call(stop(root())) };
    },
    figure: (times) => (times.stop - times.other) / times.stash,
  };
}

/** The number of files in a medium-sized project. */
const TREE_FILES = 5000;

/** The time that our git hooks add to `git commit`. */
function commits(scenario) {
  const plain = once(() => scenario.repository('plain'));
  const commit = (cwd, env) => ({
    command: 'git',
    args: ['commit', '-q', '--allow-empty', '-m', 'fix: one thing'],
    cwd,
    env,
  });
  const hooked = (name, sessions, target, of, unit) => {
    const env = sessions === 0 ? scenario.env : inSession(scenario);
    return {
      name: `commit, ${name}, more than plain`,
      unit: `× ${of}`,
      target,
      times: 2,
      commands: () => ({
        plain: commit(plain(), env),
        unit,
        hooked: commit(scenario.enabled(`commit, ${name}`, sessions), env),
      }),
      figure: (times) => (times.hooked - times.plain) / times.unit,
    };
  };
  const bareShell = { command: 'sh', args: ['-c', ':'], env: scenario.env };
  return [
    hooked('no session', 0, 3, 'sh', bareShell),
    hooked('lone', 1, 2.4, 'node', bareNode(scenario)),
    hooked('beside a peer', 2, 3.6, 'node', bareNode(scenario)),
  ];
}

/**
 * Stands in for claude-handoff-guard's PreToolUse hook: it starts the same process, and inspects the call in the same way.
 * The real one would also read a note's first line, but the file here is the project's, not a note.
 */
const OTHER_GUARD = `import { readFileSync } from 'node:fs';
const { tool_name, tool_input = {} } = JSON.parse(readFileSync(0, 'utf8'));
const notes = /\\/projects\\/[^/]+\\/memory\\/(handoff-[a-z0-9-]+\\.md)$/;
if (tool_name === 'Write' && notes.test(tool_input.file_path)) process.exitCode = 1;
`;

/** A hook that a user might have instead of ours: a row without a target, for comparison. */
function others(scenario) {
  const name = "claude-handoff-guard's hook, before a file tool";
  return {
    name: `instead: ${name}`,
    unit: '× node',
    commands: () => {
      const root = scenario.repository('instead');
      const hook = join(scenario.dir, 'other-guard.mjs');
      writeFileSync(hook, OTHER_GUARD);
      const call = {
        ...registered(scenario, root, write(root, 1500)),
        command: process.execPath,
        args: [hook],
      };
      return { node: bareNode(scenario), call };
    },
    figure: inNodes,
  };
}

export const guardRows = (scenario) => [
  ...notEnabled(scenario),
  ...lone(scenario),
  ...besidePeer(scenario),
  endOfTurn(scenario),
  others(scenario),
];

export const commitRows = commits;
