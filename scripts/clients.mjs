/**
 * Writes docs/clients.md, the clients' part of README.md, and their names in the help and the manual, from the table of
 * clients: the rows of src/install/clients.ts, the dialects of src/agents/, the variables of src/domain/names.ts.
 *
 *   node scripts/clients.mjs [--check]      --check: exit status 1 if what is committed is out of date
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = dirname(import.meta.dirname);
const PAGE = 'docs/clients.md';
const PAYLOADS = join(ROOT, 'fixtures/payloads');
const HEAD = `# Clients

<!-- Generated from the table of clients by scripts/clients.mjs. -->

\`git handoff init --client <client>\` registers the hooks, \`git handoff doctor\` sends a call through each. The versions are
those that \`npm run test:clients\` drives. "Refuses" is what the guard prints to refuse a tool call, "tells" at which events a
text of ours reaches the model.

## Trailers

A session's commits name it in \`Claude-Session-Id\`, whichever its client is: that is what git-handoff reads. With
\`handoff.assistedBy\` they also get a neutral trailer, for tools that know nothing of git-handoff:
\`Assisted-by: Codex:gpt-5.5\`, the client and its model as a hook last told it. Where no hook did, or what it told is no name
of a model, there is no trailer; nothing is signed off, and a person's commits get none. A message that has an \`Assisted-by\`
keeps it. Which clients tell, by their captured or documented payloads, is said below.
`;
const TAIL = `
## Others

Grok Build (1.0.41, driven) runs the hooks of Claude Code's settings: \`init --client claude\` guards it, too, and lists its
sessions as \`grok\`. Its model hears nothing at a start, and a refusal's first 250 characters.

No hooks of ours are made for these, and none was driven. Their sessions can use the verbs; what they change and commit counts as a person's.

- Kimi Code (2.1) has hooks, and needs a newer Node than git-handoff.
- Cline: a hook that refuses a call ends the whole run.
- Antigravity and Droid: no package that could be tried.
`;
/** Where the help and the manual list the clients. */
const HELP = 'src/verbs/setup/setup-verbs.ts';
const HELP_LIST = /'claude(?:, [a-z]+)*, none(?=, or all)/;
const MANUAL = 'docs/git-handoff.1';
const MANUAL_LIST = /^\\fIclaude\\fR(?:, \\fI[a-z]+\\fR)*, several/m;
const README_LIST = /(<!-- clients: .*? -->\n\n).*?(?=\n## )/s;

/** The table of clients, from its sources: rows by client, each with its dialect. */
export async function readClients() {
  const { INSTALLERS } = await load('src/install/clients.ts');
  const { dialectFor } = await load('src/agents/index.ts');
  const { SESSION_VARIABLES } = await load('src/domain/names.ts');
  const rows = INSTALLERS.map(async (installer) => {
    const dialect = await dialectFor(installer.client);
    const hooks = installer.register('', 'project', join(ROOT, 'bin/git-handoff'));
    const variables = Object.keys(SESSION_VARIABLES).filter(
      (name) => SESSION_VARIABLES[name] === installer.client || hooks.includes(name),
    );
    return { ...installer, dialect, variables };
  });
  return new Map((await Promise.all(rows)).map((row) => [row.client, row]));
}

async function load(input) {
  const build = await rolldown({ input: join(ROOT, input), platform: 'node' });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
}

const code = (words) => words.map((word) => `\`${word}\``).join(', ');

/** At which of its events a client tells the model, by its payloads in fixtures/. */
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
  if (telling.length === 0) return 'in no payload that was seen';
  return telling.length === seen.length ? 'always' : `at ${code(telling)}`;
}

function sectionOf(row) {
  const { title, proven, note, events, variables, dialect } = row;
  const file = (scope) => row.settingsFile(scope, { home: '/~', env: {}, cwd: '/', topLevel: '.' });
  const files = ['user', 'project', 'local'].map(file).filter((path) => path !== undefined);
  const probe = row.probe({ session: 'a1f0c3d2', cwd: '/', tool_name: 'x', tool_input: {} });
  const refusal = dialect.render({ kind: 'deny', reason: '<why>' }, dialect.parse(probe, {}), probe);
  return `
## ${title}

- client: \`${row.client}\`
- ${proven === undefined ? 'made after its documentation, never tried with the client itself' : `tested with ${proven}`}
- hooks in: ${code(files.map((path) => path.replace(/^\/~/, '~')))}
- events: ${code(events)}
- refuses: \`${refusal}\`
- tells: ${code(events.filter((event) => dialect.contextEvents.has(event)))}
- names the session of a shell command in: ${variables.length === 0 ? 'nothing, its process tells' : code(variables)}
- tells its model: ${eventsWithModel(row)}
${dialect.runsGitHooks ? '' : '- its shell runs no git hooks: beside others use `git handoff commit`\n'}${note === undefined ? '' : `- ${note}\n`}`;
}

/** The clients as the README lists them; what is special about some, the page says. */
function readmeList(rows) {
  const [tried, untried] = [true, false].map((wanted) =>
    rows.filter(({ proven }) => (proven !== undefined) === wanted),
  );
  const special = rows.filter(({ note, dialect }) => note !== undefined || !dialect.runsGitHooks);
  const titles = (some) => some.map(({ title }) => title).join(', ');
  return `- tried with the real client: ${tried.map(({ title, proven }) => `${title} ${proven}`).join(', ')}
- made after its documentation only: ${titles(untried)}
- need a step or have a limit of their own: ${titles(special)} ([clients](${PAGE}))
- any other agent can use the verbs; its edits are not guarded`;
}

async function main() {
  const rows = [...(await readClients()).values()];
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const list = `${readmeList(rows)}\n`;
  const names = rows.map(({ client }) => client);
  const texts = {
    [PAGE]: HEAD + rows.map(sectionOf).join('') + TAIL,
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
