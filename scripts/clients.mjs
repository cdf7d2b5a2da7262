/**
 * Writes docs/clients.md and the clients' part of README.md from the table of clients: the rows of src/install/clients.ts,
 * the dialects of src/agents/, the variables of src/domain/names.ts.
 *
 *   node scripts/clients.mjs [--check]      --check: exit status 1 if what is committed is out of date
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { rolldown } from 'rolldown';

const ROOT = dirname(import.meta.dirname);
const PAGE = 'docs/clients.md';
const HEAD = `# Clients

<!-- Generated from the table of clients by scripts/clients.mjs. -->

\`git handoff init --client <client>\` registers the hooks, \`git handoff doctor\` sends a call through each. The versions are
those that \`npm run test:clients\` drives. "Refuses" is what the guard prints to refuse a tool call, "tells" at which events a
text of ours reaches the model.
`;
const README_TABLE = /(<!-- clients: .*? -->\n\n).*?(?=\n\n`npm run test:clients`)/s;

/** The table of clients, from its sources: rows by client, each with its dialect. */
export async function readClients() {
  const { INSTALLERS } = await load('src/install/clients.ts');
  const { dialectFor } = await load('src/agents/index.ts');
  const { SESSION_VARIABLES } = await load('src/domain/names.ts');
  const rows = INSTALLERS.map(async (installer) => {
    const dialect = await dialectFor(installer.client);
    const variables = Object.entries(SESSION_VARIABLES).filter(([, client]) => client === installer.client);
    return { ...installer, dialect, variables: variables.map(([name]) => name) };
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
- tells: ${code(events.filter((event) => dialect.tells.has(event)))}
- names the session of a shell command in: ${variables.length === 0 ? 'nothing, its process tells' : code(variables)}
${note === undefined ? '' : `- ${note}\n`}`;
}

function readmeTable(rows) {
  const lines = rows.map(({ title, proven, note = '', dialect }) => {
    const hooks = dialect.runsGitHooks
      ? ''
      : 'its shell runs no git hooks: beside others use `git handoff commit`';
    const how = proven === undefined ? 'its documentation only' : `the real client, ${proven}`;
    return `| ${title} | ${how} | ${note || hooks} |`;
  });
  const head = '| client | how it was tested | note |\n| --- | --- | --- |';
  return `${head}\n${lines.join('\n')}\n| any other | | can use the verbs; nothing guards its tools |`;
}

async function main() {
  const rows = [...(await readClients()).values()];
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const table = (await format(readmeTable(rows), { parser: 'markdown' })).trimEnd();
  const texts = {
    [PAGE]: HEAD + rows.map(sectionOf).join(''),
    'README.md': readme.replace(README_TABLE, (_, mark) => mark + table),
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
