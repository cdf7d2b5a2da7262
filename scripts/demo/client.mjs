/**
 * A stand-in for Claude Code in the demo: a process that lives as long as its session. It does what a model would ask for,
 * and calls the registered hooks before and after each tool call, as the client does (its "hooks reference": payload on
 * stdin, a decision as JSON on stdout). Start it with `fork(client.mjs, [<session id>, <client>])`, then send one message
 * per request. As Codex or Gemini CLI (dialects.mjs) it has only the shell tool.
 *
 *   { hook: 'SessionStart', … }          an event with its fields      -> { answer }
 *   { shell: 'git status' }              the Bash tool                 -> { denied } or { output, status }
 *   { write: path, content }             the Write tool                -> { denied } or { content }
 *   { edit: path, old, new }             the Edit tool                 -> { denied } or { content }
 *
 * It ends when its parent does.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIALECTS } from './dialects.mjs';

const [session, client = 'claude'] = process.argv.slice(2);
const dialect = DIALECTS[client];
const cwd = process.cwd();
const settingsFile = join(process.env.HOME, dialect.settings);

/** If an empty answer took longer than this, in milliseconds, the guard may have run out of time and let the call pass. */
const LATE_MS = 650;
const MAX_TRIES = 4;

process.on('disconnect', () => process.exit(0));
process.on('message', ({ id, ...request }) => {
  act(request).then(
    (answer) => process.send({ id, ...answer }),
    (error) => process.send({ id, error: error.message }),
  );
});

async function act(request) {
  if (request.hook !== undefined) {
    const { hook: event, ...fields } = request;
    return { answer: await fire(event, fields) };
  }
  const call = toolCall(request);
  const asked = await askFirst(call);
  const denied = dialect.denial(asked);
  if (denied !== undefined) return { denied };
  const input = asked.updatedInput ?? call.tool_input;
  const result = await call.run(input);
  const after = await fire(dialect.after, { ...named(call), tool_input: input, tool_response: result });
  return { ...result, told: after.additionalContext };
}

function toolCall({ shell, write, edit, content, old, new: text }) {
  if (shell !== undefined) return { tool_name: dialect.shell, tool_input: { command: shell }, run: runShell };
  if (write !== undefined) {
    return { tool_name: 'Write', tool_input: { file_path: write, content }, run: runWrite };
  }
  const tool_input = { file_path: edit, old_string: old, new_string: text };
  return { tool_name: 'Edit', tool_input, run: runEdit };
}

const named = ({ tool_name, tool_input }) => ({ tool_name, tool_input, tool_use_id: 'toolu_demo' });

/** Asks the guard again if the machine was so busy that the guard ran out of time. */
async function askFirst(call) {
  for (let tries = 1; ; tries++) {
    const began = performance.now();
    const answer = await fire(dialect.before, named(call));
    const silent = Object.keys(answer).length === 0;
    if (!silent || performance.now() - began < LATE_MS || tries === MAX_TRIES) return answer;
  }
}

/** Runs every hook that the settings register for an event; returns their answers as one object. */
async function fire(event, fields) {
  const payload = { session_id: session, cwd, hook_event_name: event, permission_mode: 'default', ...fields };
  const groups = JSON.parse(readFileSync(settingsFile, 'utf8')).hooks[event] ?? [];
  const matching = groups.filter(
    ({ matcher }) => matcher === undefined || new RegExp(matcher).test(fields.tool_name ?? ''),
  );
  let merged = {};
  for (const { command } of matching.flatMap(({ hooks }) => hooks)) {
    const { output } = await run(command, JSON.stringify(payload), 'ignore');
    if (output === '') continue;
    const { hookSpecificOutput, ...rest } = JSON.parse(output);
    merged = { ...merged, ...rest, ...hookSpecificOutput };
  }
  return merged;
}

/** Runs a command with both streams in the order of writing, as on a terminal. */
const runShell = ({ command }) => run(`exec 2>&1\n${command}`, '', 'inherit');

function runWrite({ file_path, content }) {
  writeFileSync(file_path, content);
  return { content };
}

function runEdit({ file_path, old_string, new_string }) {
  return runWrite({
    file_path,
    content: readFileSync(file_path, 'utf8').replace(old_string, () => new_string),
  });
}

/** Runs one command line with `sh`, with the session's id in the environment, as the client does. */
function run(command, input, stderr) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...dialect.environment(session) };
    const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['pipe', 'pipe', stderr] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stdin.on('error', () => undefined).end(input);
    child.on('error', reject).on('close', (status) => resolve({ output, status }));
  });
}
