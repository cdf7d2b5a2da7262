// Rows of the guard: nothing to decide, a full decision, and a hostile command.
import { join } from 'node:path';
import { bareNode, once } from './measure.mjs';
import { registered, source, toolCall } from './scenario.mjs';

const ratio = ({ guard, node }) => guard / node;

function nothingToDecide(scenario) {
  const off = once(() => scenario.repository('without init'));
  const solo = once(() => scenario.enabled('solo', 1));
  const several = once(() => scenario.withWorktree('several worktrees'));
  const path = (root) => join(root, 'src', 'a.ts');
  const write = (root, bytes) => toolCall(root, 'Write', { file_path: path(root), content: source(bytes) });
  const wrote = (root, bytes) =>
    toolCall(root, 'Write', { file_path: path(root), content: source(bytes) }, { tool_response: {} });
  const output = (root, bytes) =>
    toolCall(root, 'Bash', { command: 'npm test' }, { tool_response: { stdout: source(bytes), stderr: '' } });
  const command = (root, bytes) => toolCall(root, 'Bash', { command: `node -e '${source(bytes)}'` });
  const cases = [
    ['guard, no init', off, write],
    ['guard, solo, file tool', solo, write],
    ['guard, solo, shell tool', solo, output],
    // A shell takes longer for a long command than a process that looks for all words at once: grep(1), a tenth of Node.
    ['guard, solo, shell tool, long command', solo, command, 0.45],
    // Last: where the user has a second repository, more commands are looked at.
    ['guard, solo, file tool, several worktrees', several, wrote],
  ];
  return cases.flatMap(([name, root, payload, most = 0.33]) =>
    [
      ['2 KB', 1500, 0.27],
      ['100 KB', 100_000, most],
    ].map(([size, bytes, target]) => ({
      name: `${name}, ${size}`,
      unit: '× node',
      target,
      commands: () => ({
        node: bareNode(scenario.env),
        guard: { ...registered(scenario, root(), payload(root(), bytes)), silent: true },
      }),
      figure: ratio,
    })),
  );
}

function fullDecision(scenario) {
  const root = once(() => scenario.enabled('with a peer', 2));
  const edit = () => ({ file_path: join(root(), 'src', 'a.ts'), old_string: '1', new_string: '2' });
  const file = () => toolCall(root(), 'Edit', edit());
  const shell = () =>
    toolCall(root(), 'Bash', { command: 'sed -i s/1/2/ src/a.ts && git add src && npm test' });
  const row = (name, input, target) => ({
    name,
    unit: '× node',
    target,
    commands: () => ({
      node: bareNode(scenario.env),
      guard: { ...registered(scenario, root(), input()), silent: true },
    }),
    figure: ratio,
  });
  return [
    row('guard, full decision with a peer, file tool', file, 1.5),
    row('guard, full decision with a peer, shell tool', shell, 2.1),
    ...hostile(scenario, root),
  ];
}

/** Commands that are costly to parse; the worst of them counts. */
function hostile(scenario, root) {
  const units = {
    redirects: '> ',
    substitutions: '$(',
    heredocs: '<<E ',
    quotes: '"',
    braces: '{a,',
    lists: 'a;',
  };
  return Object.entries(units).flatMap(([kind, unit]) => {
    const call = (bytes) => {
      const command = `echo handoff ${unit.repeat(bytes / unit.length)}`;
      return registered(scenario, root(), toolCall(root(), 'Bash', { command }));
    };
    return [
      {
        name: `guard, 200 KB hostile command, ${kind}`,
        unit: '× node',
        target: 6,
        runs: 7,
        commands: () => ({ node: bareNode(scenario.env), guard: call(200_000) }),
        figure: ratio,
      },
      {
        name: `guard, hostile command doubled (100 to 200, 200 to 400 KB), ${kind}`,
        unit: '×',
        target: 2.3,
        runs: 7,
        commands: () => ({ half: call(100_000), whole: call(200_000), twice: call(400_000) }),
        figure: ({ half, whole, twice }) => Math.max(whole / half, twice / whole),
      },
    ];
  });
}

export const guardRows = (scenario) => [...nothingToDecide(scenario), ...fullDecision(scenario)];
