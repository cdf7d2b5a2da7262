// Mutation testing with our own list, test/mutants/mutants.json; CONTRIBUTING.md has the figures.
//
//   node scripts/mutants.mjs [--only <id>[,<id>…]] [--tier test|all] [--commit <rev>] [--jobs <n>] [--no-baseline]
//   node scripts/mutants.mjs --list     the mutants
//   node scripts/mutants.mjs --check    only checks that each can be applied and compiles
//
// `--tier test`: only with the tests of `npm test`. Exit status 1 if too few are killed, or one is invalid.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { programCheck } from './mutants/check.mjs';
import { Copy } from './mutants/copy.mjs';
import { attempt, checkBaseline, judge, listTestFiles } from './mutants/judge.mjs';
import { Report } from './mutants/report.mjs';
import { endAll } from './mutants/run.mjs';
import { partsOf, projectsByFile, quickProjects, testFiles } from './mutants/tests.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Each job has its own copy. More than two would make tests time out. */
const JOBS = Math.min(2, availableParallelism());

const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    only: { type: 'string' },
    tier: { type: 'string', default: 'all' },
    commit: { type: 'string' },
    jobs: { type: 'string', default: String(JOBS) },
    'no-baseline': { type: 'boolean', default: false },
  },
});

function chosen() {
  const listed = JSON.parse(readFileSync(join(root, 'test/mutants/mutants.json'), 'utf8'));
  const only = options.only?.split(',');
  const mutants = only === undefined ? listed : listed.filter(({ id }) => only.includes(id));
  const unknown = only?.filter((id) => !listed.some((one) => one.id === id)) ?? [];
  if (unknown.length === 0) return { mutants, isWhole: mutants.length === listed.length };
  console.error(
    `error: no mutant is called ${unknown.join(', ')}; the names: node scripts/mutants.mjs --list`,
  );
  process.exit(2);
}

/** Whether every mutant can be applied, and the result is a valid program. */
function checkAll(mutants) {
  const check = programCheck(root);
  const errors = mutants.flatMap((mutant) => {
    const { error } = attempt(check, root, mutant);
    return error === undefined ? [] : [`invalid  ${mutant.id}: ${error}`];
  });
  for (const line of errors) console.log(line);
  console.log(`${mutants.length} mutants, ${errors.length} invalid`);
  return errors.length === 0;
}

/** Judges the mutants in the copies, one at a time in each copy. */
async function judgeAll(mutants, copies, tier) {
  const [{ folder }] = copies;
  const projects = projectsByFile(folder, await listTestFiles(folder));
  const files = testFiles(folder);
  const quick = quickProjects(folder);
  const planned = mutants.map((mutant) => {
    const parts = partsOf(mutant, files, projects, quick);
    return { mutant, parts: tier === 'all' ? parts : parts.filter(({ isQuick }) => isQuick) };
  });
  if (!options['no-baseline'])
    await checkBaseline(
      copies[0],
      planned.flatMap(({ parts }) => parts),
    );
  const check = programCheck(folder);
  const report = new Report();
  const todo = planned.values();
  const work = async (copy) => {
    for (const { mutant, parts } of todo) {
      const began = performance.now();
      report.add(mutant, await judge(copy, check, mutant, parts), performance.now() - began);
    }
  };
  await Promise.all(copies.map(work));
  return report;
}

async function main() {
  if (!['test', 'all'].includes(options.tier)) {
    console.error(`error: no tier is called ${options.tier}: test, or all`);
    process.exit(2);
  }
  const { mutants, isWhole } = chosen();
  if (options.list) {
    for (const { id, file, in: name, operator, hurts } of mutants)
      console.log(`${id}  ${file}${name === undefined ? '' : ` ${name}`}, ${operator}: ${hurts}`);
    return true;
  }
  if (options.check) return checkAll(mutants);
  // The path must not contain our name: payloads contain the path, and the launcher passes every payload with our name to Node.
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'mutants-'));
  const remove = () => {
    endAll();
    rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      remove();
      process.exit(130);
    });
  }
  try {
    const count = Math.max(1, Math.min(Number(options.jobs), mutants.length));
    const copies = Array.from(
      { length: count },
      (_, n) => new Copy(root, join(base, String(n)), options.commit),
    );
    const report = await judgeAll(mutants, copies, options.tier);
    return report.finish(options.tier, isWhole);
  } finally {
    remove();
  }
}

if (!(await main())) process.exitCode = 1;
