// Judges a mutant: it is put into a copy, and the tests that should detect it run there.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutate } from './mutate.mjs';
import { run } from './run.mjs';

/** Time limits, in milliseconds, for the tests of one project: with a mutation, and without one. */
const PATIENCE_MS = 180_000;
const BASELINE_PATIENCE_MS = 1_800_000;
/** On a busy machine a test may time out, so failed tests are repeated: once with a mutation, twice without one. */
const MUTATED = { bail: true, retry: 1, patience: PATIENCE_MS };
const BASELINE = { bail: false, retry: 2, patience: BASELINE_PATIENCE_MS };
/** The project whose tests import the sources; all others run the build. */
const WITHOUT_BUILD = 'unit';
const UNCHANGED = 'unchanged';

const vitest = (folder) => join(folder, 'node_modules/vitest/vitest.mjs');

/** The test files and their projects, as `vitest list` prints them. */
export async function listTestFiles(folder) {
  const words = [vitest(folder), 'list', '--filesOnly', '--json'];
  const { status, output } = await run(process.execPath, words, folder, PATIENCE_MS);
  if (status !== 0) throw new Error(`vitest cannot list the tests: ${output}`);
  return output;
}

/** Runs tests of one project. `name`: a regular expression for the tests' names. */
async function test(folder, { project, files, name }, { bail, retry, patience }) {
  const report = join(folder, '.mutants-report.json');
  rmSync(report, { force: true });
  const words = ['run', '--project', project, '--reporter=json', `--outputFile=${report}`];
  words.push(`--retry=${retry}`, ...(bail ? ['--bail=1'] : []));
  if (name !== undefined) words.push('-t', name);
  const { status, output } = await run(
    process.execPath,
    [vitest(folder), ...words, ...files],
    folder,
    patience,
  );
  if (status === null) return { kind: 'timeout', by: '' };
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  const tests = (results?.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
  // A failure before the first test (in a hook) is reported for the file.
  const suite = results?.testResults.find((one) => one.status === 'failed')?.message.split('\n')[0];
  const names = tests.filter((one) => one.status === 'failed').map(({ fullName }) => fullName);
  const failed = names.length === 0 ? suite : names.join('; ');
  if (status !== 0) return { kind: 'red', by: failed ?? output.trim().split('\n').at(-1) };
  const ran = tests.filter((one) => one.status === 'passed').length;
  return ran === 0 ? { kind: 'none', by: 'no test has that name' } : { kind: 'green', by: '' };
}

/** Runs the named tests once without any mutation: a test that already fails proves nothing. */
export async function checkBaseline(copy, parts) {
  const failure = await copy.build(UNCHANGED);
  if (failure !== undefined) throw new Error(`the copy cannot be built: ${failure}`);
  for (const project of new Set(parts.map((part) => part.project))) {
    const here = parts.filter((part) => part.project === project);
    const unnamed = here.filter(({ name }) => name === undefined).flatMap(({ files }) => files);
    const named = here.filter(({ name }) => name !== undefined);
    const names = [...new Set(named.map(({ name }) => `(?:${name})`))].join('|');
    const groups = [
      { project, files: [...new Set(unnamed)] },
      { project, files: [...new Set(named.flatMap(({ files }) => files))], name: names },
    ];
    for (const group of groups.filter(({ files }) => files.length > 0)) {
      const { kind, by } = await test(copy.folder, group, BASELINE);
      if (kind !== 'green') throw new Error(`without a mutation the tests of ${project} are ${kind}: ${by}`);
    }
  }
}

/** Runs the parts one after the other, until one fails. */
async function runParts(copy, mutant, parts) {
  for (const part of parts) {
    if (part.project !== WITHOUT_BUILD) {
      const failure = await copy.build(mutant.file.startsWith('src/') ? mutant.id : UNCHANGED);
      if (failure !== undefined) return { kind: 'invalid', by: failure };
    }
    const { kind, by } = await test(copy.folder, part, MUTATED);
    const { project, isQuick } = part;
    if (kind === 'none') return { kind: 'invalid', by };
    if (kind === 'timeout') return { kind, by: part.files.join(' '), project, isQuick };
    if (kind === 'red') return { kind: 'killed', by, project, isQuick };
  }
  const by = parts.length === 0 ? 'none of its tests is one of `npm test`' : mutant.hurts;
  return { kind: 'survived', by: mutant.survives ?? by };
}

/** The text with the mutant applied, or why that is not a valid program. */
export function attempt(check, folder, mutant) {
  const text = readFileSync(join(folder, mutant.file), 'utf8');
  try {
    const mutated = mutate(mutant, text).text;
    return { text, mutated, error: check(mutant.file, mutated) };
  } catch (error) {
    return { text, mutated: text, error: error.message };
  }
}

/** Returns `killed`, `timeout` (also detected), `survived` or `invalid`; `isQuick` if a test of `npm test` detected the mutant. */
export async function judge(copy, check, mutant, parts) {
  const { text, mutated, error } = attempt(check, copy.folder, mutant);
  if (error !== undefined) return { kind: 'invalid', by: error };
  const path = join(copy.folder, mutant.file);
  try {
    writeFileSync(path, mutated);
    return await runParts(copy, mutant, parts);
  } finally {
    writeFileSync(path, text);
  }
}
