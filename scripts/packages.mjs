// Writes the plugins and extensions of the clients from the table of clients (src/install/clients.ts) and from
// skills/, and the name of the packed file into docs/. `--check` writes nothing, and exits with 1 if a committed file differs.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readClients } from './clients.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (file) => readFileSync(join(root, file), 'utf8');
const { name, version, description, license, keywords } = JSON.parse(read('package.json'));
/** Folders of generated files, and the handwritten files in them. */
const OURS = ['plugins', 'hooks', '.claude-plugin', '.agents', '.github/plugin'];
const WRITTEN = ['plugins/opencode/index.js'];
const AUTHOR = { name: 'The git-handoff authors' };
const SKILL = `skills/${name}/SKILL.md`;

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
const manifest = { name, version, description, author: AUTHOR, license, keywords };

const clients = await readClients();
/** Hooks as in a project's settings: the program is looked up on PATH, and without it nothing happens. */
const hooks = (client) => clients.get(client).register('', 'project', '');
const marketplace = (source) =>
  json({ name, owner: AUTHOR, metadata: { description }, plugins: [{ name, source, description, version }] });

const named = (text) =>
  text.replaceAll(/(?<=\/|-g )git-handoff-\d+\.\d+\.\d+\S*?\.tgz/g, `${name}-${version}.tgz`);

const files = {
  '.claude-plugin/marketplace.json': marketplace('./plugins/claude'),
  'plugins/claude/.claude-plugin/plugin.json': json(manifest),
  'plugins/claude/hooks/hooks.json': hooks('claude'),
  [`plugins/claude/${SKILL}`]: read(SKILL),
  '.agents/plugins/marketplace.json': marketplace('./plugins/codex'),
  'plugins/codex/.codex-plugin/plugin.json': json(manifest),
  'plugins/codex/hooks/hooks.json': hooks('codex'),
  [`plugins/codex/${SKILL}`]: read(SKILL),
  '.github/plugin/marketplace.json': marketplace('./plugins/copilot'),
  'plugins/copilot/plugin.json': json({ ...manifest, hooks: 'hooks.json' }),
  'plugins/copilot/hooks.json': hooks('copilot'),
  [`plugins/copilot/${SKILL}`]: read(SKILL),
  'plugins/cursor/.cursor-plugin/plugin.json': json({ ...manifest, hooks: 'hooks.json' }),
  'plugins/cursor/hooks.json': hooks('cursor'),
  [`plugins/cursor/${SKILL}`]: read(SKILL),
  'plugins/qwen/qwen-extension.json': json({ name, version, description }),
  'plugins/qwen/hooks/hooks.json': hooks('qwen'),
  [`plugins/qwen/${SKILL}`]: read(SKILL),
  'plugins/opencode/package.json': json({ name, version, description, type: 'module', main: 'index.js' }),
  // Gemini CLI installs only from the top of a repository, and reads skills/ there.
  'gemini-extension.json': json({ name, version, description }),
  'hooks/hooks.json': hooks('gemini'),
  // Pages that name the packed file.
  ...Object.fromEntries(['docs/release.md', 'docs/server.md'].map((page) => [page, named(read(page))])),
};

const committed = OURS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
);
const stale = Object.keys(files).filter(
  (file) => !existsSync(join(root, file)) || read(file) !== files[file],
);
const foreign = committed.filter((file) => !Object.hasOwn(files, file) && !WRITTEN.includes(file));

if (process.argv.includes('--check')) {
  for (const file of stale) console.error(`${file} is not what \`npm run packages\` writes`);
  for (const file of foreign) console.error(`${file} is not written by scripts/packages.mjs`);
  process.exitCode = stale.length + foreign.length === 0 ? 0 : 1;
} else {
  for (const file of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), files[file]);
  }
}
