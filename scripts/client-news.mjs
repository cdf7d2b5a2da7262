/**
 * Reports what the newest versions of the clients changed in the payloads of our hooks. Each client is installed into a
 * scratch folder, and driven once against a scripted model on 127.0.0.1, with a probe as hook for the events that `init`
 * registers (test/client-news). The payloads are compared with fixtures/payloads/<client>/. The tools that the client offers
 * the model, and those that its package names, are compared with client-tools.mjs. Prints Markdown; exit status 1 if a tool
 * is missing in that table, or no tool was seen.
 *
 *   node scripts/client-news.mjs [client...]
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readClients } from './clients.mjs';

const ROOT = dirname(import.meta.dirname);

/** Captured payloads that the run does not cause: those of some tools, and the start of Codex's sub-agent. */
const NOT_DRIVEN = {
  claude: / (?:NotebookEdit|ExitWorktree)$/,
  codex: /^SubagentStart$/,
  qwen: / (?:mcp__|exit_worktree$)/,
  opencode: / files_/,
  copilot: / files-| Write$/,
};

/**
 * The differences between captured payloads and new ones, as lines: new and missing events (with their tool), then new and
 * missing fields of the other events. A field is new if no captured payload of the event has it, and missing if all of them
 * have it.
 */
export function newsOf(captured, seen) {
  const [before, now] = [fieldsByEvent(captured), fieldsByEvent(seen)];
  const lines = [];
  for (const event of [...before.keys()].filter((key) => !now.has(key))) lines.push(`missing: ${event}`);
  for (const event of [...now.keys()].filter((key) => !before.has(key))) lines.push(`new: ${event}`);
  for (const [event, { some }] of now) {
    const old = before.get(event);
    if (old === undefined) continue;
    const missing = outermost([...old.every].filter((field) => !some.has(field)));
    const added = outermost([...some].filter((field) => !old.some.has(field)));
    if (missing.length > 0) lines.push(`${event}, missing: ${missing.join(', ')}`);
    if (added.length > 0) lines.push(`${event}, new: ${added.join(', ')}`);
  }
  return lines;
}

/** For each event and tool: the fields that at least one of its payloads has, and the fields that all of them have. */
function fieldsByEvent(payloads) {
  const events = new Map();
  for (const payload of payloads) {
    const event = nameOf(payload);
    const fields = new Set(fieldsIn(payload));
    const { some = [], every = fields } = events.get(event) ?? {};
    const common = [...every].filter((field) => fields.has(field));
    events.set(event, { some: new Set([...some, ...fields]), every: new Set(common) });
  }
  return events;
}

/** The name of an event and its tool. Copilot CLI's payload of a starting sub-agent names no event. */
function nameOf({ hook_event_name: event = 'an event without a name', tool_name: tool }) {
  return tool === undefined ? event : `${event} ${tool}`;
}

/** The names of all fields, such as `tool_input.edits[].old`. */
function fieldsIn(value, path = '') {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsIn(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = path === '' ? name : `${path}.${name}`;
    return [field, ...fieldsIn(inner, field)];
  });
}

/** Leaves out fields that are inside another field of the list. */
function outermost(fields) {
  return fields.filter(
    (field) => !fields.some((outer) => /^[.[]/.test(field.slice(outer.length)) && field.startsWith(outer)),
  );
}

/** The captured payloads that the run should cause. Copilot CLI's in camel case are left out: `init` does not ask for them. */
function capturedOf(row) {
  const text = row.register('', 'user', join(ROOT, 'bin/git-handoff'));
  const { hooks } = JSON.parse(row.settingsIn?.(text) ?? text);
  const isRegistered = ({ hook_event_name: event, tool_name: tool }) =>
    event === undefined ||
    hooks[event]?.some(({ matcher }) => !matcher || new RegExp(`^(?:${matcher})$`).test(tool));
  const folders = ['', '-new']
    .map((age) => join(ROOT, 'fixtures/payloads', row.client + age))
    .filter(existsSync);
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return files
    .filter((file) => !basename(file).startsWith('camel-'))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')).payload)
    .filter((payload) => isRegistered(payload) && !NOT_DRIVEN[row.client]?.test(nameOf(payload)));
}

/** One line for each of a client's tools that the table lacks. */
export function toolNews(table, tools) {
  if (tools.length === 0) return ['no tools were seen: there may be new ones'];
  const known = new Set(Object.values(table).flat());
  const unknown = tools.filter((name) => !known.has(name));
  return unknown.map(
    (name) => `**unknown tool: ${name}**, scripts/client-tools.mjs does not say how it is judged`,
  );
}

function sectionOf(row, { version, payloads, problem, tools = [] }) {
  const lines = toolNews(row.tools, tools);
  if (lines.length > 0) process.exitCode = 1;
  if (problem !== undefined)
    lines.push(`could not be driven to the end: ${problem.replaceAll(/\s+/g, ' ').slice(0, 400)}`);
  if (payloads?.length > 0) {
    const news = newsOf(capturedOf(row), payloads);
    lines.push(...(news.length > 0 ? news : ['no difference']));
  }
  const list = lines.map((line) => `- ${line}\n`).join('');
  return `## ${row.title} ${version ?? '(version not known)'}, tested with: ${row.proven}\n\n${list}\n`;
}

/** Lets vitest drive the clients, with vitest's output on stderr. Returns the report on each client. */
function drive(rows) {
  const scratch = mkdtempSync(join(tmpdir(), 'git-handoff-news-'));
  try {
    const reports = join(scratch, 'reports');
    mkdirSync(reports);
    const fileOf = ({ client }) => join(reports, `${client}.json`);
    for (const row of rows) writeFileSync(fileOf(row), '{"problem":"vitest did not get to this client"}');
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const env = { ...process.env, GIT_HANDOFF_NEWS: reports, GIT_HANDOFF_CLIENTS: join(scratch, 'clients') };
    const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'client-news'], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) process.exitCode = 1;
    return rows.map((row) => [row, JSON.parse(readFileSync(fileOf(row), 'utf8'))]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function main(names) {
  const rows = [...(await readClients()).values()].filter(({ proven }) => proven !== undefined);
  const unknown = names.filter((name) => !rows.some(({ client }) => client === name));
  if (unknown.length > 0) {
    console.error(
      `no such client: ${unknown.join(', ')}; there are ${rows.map(({ client }) => client).join(', ')}`,
    );
    process.exitCode = 2;
    return;
  }
  const chosen = rows.filter(({ client }) => names.length === 0 || names.includes(client));
  for (const [row, found] of drive(chosen)) process.stdout.write(sectionOf(row, found));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
