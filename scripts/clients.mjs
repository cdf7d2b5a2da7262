/**
 * Writes docs/clients.md, the clients' part of README.md, and their names in the help and the manual, from the table of
 * clients: the rows of src/install/clients.ts, the dialects of src/agents/, client-tools.mjs, the variables of src/domain/names.ts.
 *
 *   node scripts/clients.mjs [--check]      --check: exit status 1 if what is committed is out of date
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { toolsOf } from './client-tools.mjs';

const ROOT = dirname(import.meta.dirname);
const PAGE = 'docs/clients.md';
const PAYLOADS = join(ROOT, 'fixtures/payloads');
const HEAD = `# Clients

<!-- Generated from the table of clients by scripts/clients.mjs. -->

\`git handoff init --client <client>\` registers the hooks, and \`git handoff doctor\` sends a call through each. The versions are
those that \`npm run test:clients\` runs. "Refuses" is what the guard prints to refuse a tool call; "tells" lists the events at
which the guard can tell the model something.

The guard judges a call of a file tool or a shell tool before it runs, and then looks at what the call changed. Our hooks
are not called for tools that are "looked at afterwards": the guard sees their changes at the session's next call. The other
tools only read, or are ignored because they concern the client itself or sub-agents. The calls that a sub-agent makes are
judged. The tools of MCP servers are judged by the verbs in the tools' names. \`node scripts/client-news.mjs\` reports tools
that are not listed here.

## Trailers

With every client, a session's commits name the session in \`Claude-Session-Id\`, which git-handoff reads. With
\`handoff.assistedBy\` they also get a trailer for tools that know nothing of git-handoff: \`Assisted-by: Codex:gpt-5.5\`. It
names the client, and the model that the client's hooks last reported. If no hook reported a valid model name, there is no such
trailer. A person's commits never get this trailer. A message that already has an \`Assisted-by\` keeps it. No sign-off is added.
"Reports its model" below says at which events a client reports the model, according to captured or documented payloads.
`;
const TAIL = `
## Others

Grok Build (tested with 1.0.41) runs the hooks in Claude Code's settings: \`init --client claude\` guards it, too, and its
sessions are listed as \`grok\`. Its model hears nothing at the start of a session, and only the first 250 characters of a
refusal.

GROK

We have no hooks for these clients, and have not run them. Their sessions can use the verbs; what they change and commit
counts as a person's.

- Kimi Code (2.1) has hooks, but needs a newer Node than git-handoff.
- Cline has hooks, but a hook that refuses a call ends the whole run.
- Droid: we found no package to try.

## Antigravity

\`agy\`, the successor of Gemini CLI, has hooks, but we found no package of it to try, and its documentation does not suffice.
\`hooks.json\` (in \`.agents/\` and \`~/.gemini/config/\`) maps names to events. One bad entry makes the client drop the whole file.
We could add our entry without touching others, but no answer of a hook leaves the decision to the client. According to the
document in its package, a hook before a tool must return a \`decision\`. \`allow\` "automatically allows" the call, which is not
ours to decide ([39](decisions/0039-clients.md)). \`ask\` asks even users who want no questions, and refuses in print mode,
where nobody can answer. Reports on its hooks contradict each other:

- Printing nothing means no opinion (1.0.3, 1.1.12), a question (1.1.2) or a refusal.
- \`{}\` is always a refusal.
- \`deny\` is a veto or a question (both 1.1.2).
- Two reports say that 1.1.27 and 1.2.7 run no hook before a tool, others that 1.2.7 does.

A payload does not name its event, nor, in print mode, a folder.

One run of the newest version would settle it: if a \`PreToolUse\` hook prints nothing and exits with 0, every call must go on as
it does without a hook, interactively and in print mode.
`;
/** Supported clients that few people can still start to use. */
const ENDED = { gemini: 'ended for individuals in June 2026' };
/** Where the help and the manual list the clients. */
const HELP = 'src/verbs/setup/setup-verbs.ts';
const HELP_LIST = /'claude(?:, [a-z-]+)*, none(?=, or all)/;
const MANUAL = 'docs/git-handoff.1';
const MANUAL_LIST = /^\\fIclaude\\fR(?:, \\fI[a-z-]+\\fR)*, several/m;
const README_LIST = /(<!-- clients: .*? -->\n\n).*?(?=\n## )/s;

/** The table of clients, from its sources: rows by client, each with its dialect. */
export async function readClients() {
  const { INSTALLERS } = await load('src/install/clients.ts');
  const { dialectFor } = await load('src/agents/index.ts');
  const { SESSION_VARIABLES } = await load('src/domain/names.ts');
  const rows = INSTALLERS.map(async (installer) => {
    const dialect = await dialectFor(installer.client);
    const tools = readTools(installer.client);
    const hooks = installer.register('', 'project', join(ROOT, 'bin/git-handoff'));
    const variables = Object.keys(SESSION_VARIABLES).filter(
      (name) => SESSION_VARIABLES[name] === installer.client || hooks.includes(name),
    );
    return { ...installer, dialect, variables, tools };
  });
  return new Map((await Promise.all(rows)).map((row) => [row.client, row]));
}

/** The tools of a client, grouped by how they are judged. */
function readTools(client) {
  const judgements = Object.keys(JUDGED);
  return Object.fromEntries(judgements.map((judgement) => [judgement, toolsOf(client, judgement)]));
}

async function load(input) {
  const build = await rolldown({ input: join(ROOT, input), platform: 'node' });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

/** The page's words for how a tool's calls are judged (client-tools.mjs). */
const JUDGED = {
  file: 'file tools',
  shell: 'shell tools',
  afterwards: 'looked at afterwards',
  reads: 'read only',
  ignored: 'ignored',
};

const code = (words) => words.map((word) => `\`${word}\``).join(', ');

/** The events at which a client reports its model, by its payloads in fixtures/. */
function eventsWithModel({ client, events }) {
  const folders = ['', '-new', '-codemode', '-documented'].map((kind) => join(PAYLOADS, client + kind));
  const payloads = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')))
    .map((text) => JSON.parse(text))
    .map(({ payload, ...own }) => payload ?? own);
  const found = new Set(payloads.flatMap(({ model, hook_event_name: name }) => (model ? [name] : [])));
  const telling = events.filter((event) => found.has(event));
  const seen = events.filter((event) => payloads.some(({ hook_event_name: name }) => name === event));
  if (telling.length === 0) return 'in no known payload';
  return telling.length === seen.length ? 'always' : `at ${code(telling)}`;
}

/** The tools of a client, one line for each way in which they are judged. */
const toolLines = (tools) =>
  Object.entries(JUDGED)
    .filter(([judgement]) => tools[judgement].length > 0)
    .map(([judgement, title]) => `- ${title}: ${code(tools[judgement])}\n`)
    .join('');

function sectionOf(row) {
  const { title, proven, note, events, variables, dialect } = row;
  const user = join(row.folder({ home: '/~', env: {}, cwd: '/' }), row.files.user);
  const files = [user, row.files.project, row.files.local].filter((path) => path !== undefined);
  const probe = { ...row.probe('a1f0c3d2', '/'), cwd: '/', tool_name: 'x', tool_input: {} };
  const refusal = dialect.render({ kind: 'deny', reason: '<why>' }, dialect.parse(probe, {}), probe);
  return `
## ${title}

- client: \`${row.client}\`${ENDED[row.client] === undefined ? '' : `, ${ENDED[row.client]}`}
- ${proven === undefined ? 'written from its documentation, never run with the client itself' : `tested with ${proven}`}
- hooks in: ${code(files.map((path) => path.replace(/^\/~/, '~')))}
- events: ${code(events)}
- refuses: \`${refusal}\`
- tells: ${code(events.filter((event) => dialect.contextEvents.has(event)))}
- variable with the session's id in shell commands: ${variables.length === 0 ? 'none; the guard finds the session by its processes' : code(variables)}
- reports its model: ${eventsWithModel(row)}
${toolLines(row.tools)}${dialect.runsGitHooks ? '' : '- its shell runs no git hooks: beside other sessions, commit with `git handoff commit`\n'}${note === undefined ? '' : `- ${note}\n`}`;
}

/** The clients as the README lists them; the page says what is special about some. */
function readmeList(rows) {
  const [tried, untried] = [true, false].map((wanted) =>
    rows.filter(({ proven }) => (proven !== undefined) === wanted),
  );
  const special = rows.filter(({ note, dialect }) => note !== undefined || !dialect.runsGitHooks);
  const titles = (some) => some.map(({ title }) => title).join(', ');
  const version = ({ client, title, proven }) =>
    `${title} ${proven}${client in ENDED ? ` (${ENDED[client]})` : ''}`;
  return `- tried with the real client: ${tried.map(version).join(', ')}
- written from its documentation, never run: ${titles(untried)}
- need an extra step or have a limit: ${titles(special)} ([clients](${PAGE}))
- other clients can use the verbs, unguarded`;
}

async function main() {
  const grok = readTools('grok');
  const clients = [...(await readClients()).values()];
  const names = clients.map(({ client }) => client);
  const rows = clients.toSorted((a, b) => (a.client in ENDED) - (b.client in ENDED));
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const list = `${readmeList(rows)}\n`;
  const texts = {
    [PAGE]: HEAD + rows.map(sectionOf).join('') + TAIL.replace('GROK\n', () => toolLines(grok)),
    [HELP]: readFileSync(join(ROOT, HELP), 'utf8').replace(HELP_LIST, `'${names.join(', ')}, none`),
    [MANUAL]: readFileSync(join(ROOT, MANUAL), 'utf8').replace(
      MANUAL_LIST,
      `${names.map((name) => `\\fI${name}\\fR`).join(', ')}, several`,
    ),
    'README.md': readme.replace(README_LIST, (_, mark) => mark + list),
  };
  for (const [file, text] of Object.entries(texts)) {
    if (!process.argv.includes('--check')) {
      writeFileSync(join(ROOT, file), text);
    } else if (readFileSync(join(ROOT, file), 'utf8') !== text) {
      console.error(`${file} is out of date: node scripts/clients.mjs`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
