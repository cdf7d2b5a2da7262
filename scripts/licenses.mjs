// Writes THIRD-PARTY-LICENSES: the packages whose code rolldown really puts into the bundles, with their licences.
// `--check` writes nothing, and exits with 1 if the file differs from what would be written.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { LIBRARY_OPTIONS } from './libraries.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const FILE = join(root, 'THIRD-PARTY-LICENSES');
/** The entries of scripts/build.mjs. */
const ENTRIES = ['hook', 'start', 'cli'];

/** Folders of the packages of which something remains after tree shaking. */
async function bundledPackages() {
  const build = await rolldown({
    input: ENTRIES.map((name) => join(root, 'src', `${name}.ts`)),
    platform: 'node',
    ...LIBRARY_OPTIONS,
    moduleTypes: { '.bash': 'text', '.zsh': 'text', '.fish': 'text' },
    onLog() {},
  });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  const sources = output
    .filter(({ type }) => type === 'chunk')
    .flatMap(({ modules }) => Object.entries(modules))
    .filter(([, { renderedLength }]) => renderedLength > 0)
    .map(([id]) => id.replace(/^\0+/, ''));
  const inner = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;
  return [...new Set(sources.flatMap((id) => inner.exec(id)?.[0] ?? []))].sort();
}

function chapter(folder) {
  const { name, version, license, author, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!license) throw new Error(`${name} names no licence: look at it before it is bundled`);
  const named = `(The package brings no licence text. By ${author?.name ?? author}, ${repository?.url ?? repository})`;
  const text =
    file === undefined ? named : readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
  return { title: `${name} ${version} (${license})`, text };
}

/** Packages with exactly the same licence text share a chapter, because the tarball has a size limit. */
const chapters = new Map();
for (const folder of await bundledPackages()) {
  const { title, text } = chapter(folder);
  chapters.set(text, [...(chapters.get(text) ?? []), title]);
}
const text = [
  'git-handoff is under the licence in LICENSE. Its bundles (dist/) hold code of these packages.\n',
  ...[...chapters].map(([licence, titles]) => `${[...new Set(titles)].join('\n')}\n\n${licence}\n`),
].join(`\n${'-'.repeat(80)}\n\n`);

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  console.error('THIRD-PARTY-LICENSES is not what `npm run licenses` writes');
  process.exitCode = 1;
}
