// Which files of dist/ Node loads in each case: the entries of the program, and what is typed or called most often.
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { registered, session, start, toolCall } from './scenario.mjs';

const dist = join(import.meta.dirname, '..', 'dist');

/**
 * A case: its name, and how its command is made. A command may be run more than once.
 * @typedef {{ name: string, command: () => import('./measure.mjs').Command }} Case
 */

/** @returns {Case[]} the cases, in repositories of the scenario that hold one session beside a peer */
export function loadCases(scenario) {
  const root = scenario.enabled('cases', 2);
  const env = { ...scenario.env, CLAUDE_CODE_SESSION_ID: session };
  const inRoot = { cwd: root, env };
  const bare = `${root}.git`;
  scenario.run('git', ['init', '-q', '--bare', bare]);
  scenario.run('git', ['remote', 'add', 'origin', bare], inRoot);
  scenario.run('git', ['push', '-q', '-u', 'origin', 'main'], inRoot);
  scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], inRoot);
  const file = join(root, 'src', 'a.ts');
  const edit = { file_path: file, old_string: '1', new_string: '2' };
  const shell = { command: 'sed -i s/1/2/ src/a.ts && npm test' };
  const code = { command: `node -e 'fs.writeFileSync("src/a.ts", "2")'` };
  const done = { tool_response: { stdout: '' } };
  const event = (hook_event_name, more) =>
    JSON.stringify({ ...JSON.parse(start(root, session)), hook_event_name, ...more });
  const guard = (name, payload) => ({ name, command: () => registered(scenario, root, payload) });
  const typed = (name, command, ...args) => ({
    name,
    command: () => ({ command, args, input: '', ...inRoot }),
  });
  const verb = (...args) => typed(args[0], scenario.launcher, ...args);
  const script = (name, text) => typed(name, 'sh', '-c', text, scenario.launcher);
  return [
    guard('before a file tool', toolCall(root, 'Edit', edit)),
    guard('before a shell tool', toolCall(root, 'Bash', shell)),
    guard('before code of another language', toolCall(root, 'Bash', code)),
    guard('after a file tool', toolCall(root, 'Edit', edit, done)),
    guard('after a shell tool', toolCall(root, 'Bash', shell, done)),
    guard('start of a session', start(root, session)),
    guard('end of a turn', event('Stop', {})),
    typed('git commit', 'git', 'commit', '-q', '--allow-empty', '-m', 'more'),
    script('git push', 'git commit -q --allow-empty -m more && git push -q origin main'),
    verb('--version'),
    verb('write', 'speed-check', '-m', 'goal: be faster'),
    verb('show', 'speed-check'),
    verb('list'),
    verb('boot'),
    verb('status'),
    script('commit', 'date +%s%N >src/b.ts && "$0" commit -m more src/b.ts'),
    verb('sync'),
    verb('doctor'),
  ];
}

/**
 * Measures which files of dist/ each case loads: Node is started with a recorder before the program.
 * @param {import('./scenario.mjs').Scenario} scenario
 * @param {readonly Case[]} cases
 * @returns {{ name: string, files: string[] }[]} the files relative to dist/
 */
export function measureLoads(scenario, cases) {
  const loaded = join(scenario.dir, 'loaded');
  const recorder = join(scenario.dir, 'recorder.cjs');
  const node = join(scenario.dir, 'node');
  // Bundles are read as any file is (src/start.ts); their compiled code lies elsewhere.
  writeFileSync(
    recorder,
    `const fs = require('node:fs');
    const read = fs.readFileSync;
    const files = new Set([process.argv[1]]);
    fs.readFileSync = (file, ...rest) => (files.add(String(file)), read(file, ...rest));
    process.on('exit', () => fs.appendFileSync(${JSON.stringify(loaded)},
      [...files].map((file) => file + '\\n').join('')));`,
  );
  // The launcher takes NODE_OPTIONS away from Node, so the recorder is brought by the Node that `init` noted.
  writeFileSync(node, `#!/bin/sh\nexec '${process.execPath}' --require '${recorder}' "$@"\n`);
  chmodSync(node, 0o755);
  writeFileSync(join(scenario.env.HOME, '.local', 'state', 'git-handoff', 'node'), node);
  return cases.map(({ name, command: make }) => {
    const { command, args, ...options } = make();
    // The first call may fill a cache. On a busy machine one of the others may run out of time, hardly both.
    scenario.run(command, args, options);
    rmSync(loaded, { force: true });
    for (let runs = 0; runs < 2; runs += 1) scenario.run(command, args, options);
    const files = existsSync(loaded) ? readFileSync(loaded, 'utf8').split('\n') : [];
    const own = files
      .map((file) => relative(dist, file))
      .filter((file) => file !== '' && !file.startsWith('..'));
    return { name, files: [...new Set(own)].map((file) => file.replaceAll(sep, '/')) };
  });
}
