// node bench/loads.mjs: which files of dist/ Node loads in each case, and how many KiB they have. It needs no strace.
//   --json   one object, with what is in the files
//   --pin    writes that to test/e2e/bundles.json: what test/e2e/bundles.test.ts allows from now on
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadCases, measureLoads } from './load-cases.mjs';
import { Scenario } from './scenario.mjs';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

function measure() {
  const scenario = new Scenario();
  try {
    return measureLoads(scenario, loadCases(scenario)).map(({ name, files }) => {
      const bytes = files.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0);
      return { name, kib: Math.ceil(bytes / 1024), files: files.sort().join(' ') };
    });
  } finally {
    scenario.remove();
  }
}

/** What is in the files that some case loads, by its name: a library counts once, sources move between folders. */
function contents(cases) {
  const modules = JSON.parse(readFileSync(join(dist, 'modules.json'), 'utf8'));
  const name = (path) =>
    /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.slice(path.lastIndexOf('/') + 1);
  const files = [...new Set(cases.flatMap((one) => one.files.split(' ')))].sort();
  return Object.fromEntries(
    files.map((file) => [file, [...new Set((modules[file] ?? []).map(name))].sort().join(' ')]),
  );
}

const cases = measure();
const json = JSON.stringify({ cases, modules: contents(cases) }, undefined, 2);
if (process.argv.includes('--pin')) writeFileSync(join(root, 'test', 'e2e', 'bundles.json'), `${json}\n`);
else if (process.argv.includes('--json')) console.log(json);
else {
  console.log('| case | files | KiB | |\n| --- | --: | --: | --- |');
  for (const { name, files, kib } of cases) {
    console.log(`| ${name} | ${files.split(' ').length} | ${kib} | ${files} |`);
  }
}
