// npm run proof: shows what is lost when several sessions share a repository, with and without tools (docs/proof.md).
//   --only <text>   scenarios whose report or title contains the text
//   --tool <name>   one tool only
//   --calls         also prints each refused or failed call, with what the session read
//   --page          also writes table and plot into docs/
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { adapters } from './adapter.mjs';
import { plot } from './plot.mjs';
import { kinds } from './scenarios.mjs';
import { costLines, tableLines, totalsOf } from './table.mjs';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    tool: { type: 'string' },
    calls: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
});

function refuse(message) {
  console.error(`error: ${message}`);
  process.exit(2);
}

if (options.page && (options.only !== '' || options.tool !== undefined))
  refuse('--page takes every scenario and tool: leave out --only and --tool');

const all = await kinds();
const tools = (await adapters()).map(({ name }) => name);

/** Every scenario with every tool, as indexes. The slowest tools come first, so that no core is idle at the end. */
const plays = tools
  .flatMap((name, adapter) =>
    options.tool !== undefined && options.tool !== name
      ? []
      : all.flatMap(({ scenarios }, kind) =>
          scenarios.flatMap(({ report, title }, scenario) =>
            `${report} ${title}`.includes(options.only) ? [{ kind, scenario, adapter }] : [],
          ),
        ),
  )
  .reverse();

if (options.tool !== undefined && !tools.includes(options.tool))
  refuse(`no tool "${options.tool}"; there are: ${tools.join(', ')}`);
if (plays.length === 0) refuse(`no scenario has "${options.only}" in its report or title`);

/** Lets each free thread take the next play. */
async function playAll() {
  const waiting = [...plays];
  const thread = async () => {
    const worker = new Worker(join(import.meta.dirname, 'one-play.mjs'));
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      worker.postMessage(next);
      const answer = await new Promise((resolve, reject) =>
        worker.once('message', resolve).once('error', reject),
      );
      worker.removeAllListeners('error');
      if (answer.failed !== undefined)
        throw new Error(`${all[next.kind].scenarios[next.scenario].report}: ${answer.failed}`);
      next.result = answer.result;
      if (process.stderr.isTTY) process.stderr.write(`\r${plays.length - waiting.length} of ${plays.length}`);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, thread));
  if (process.stderr.isTTY) process.stderr.write('\n');
}

/** The calls of a play that were refused or failed, as lines. */
function callLines({ adapter, kind, scenario, result }) {
  const calls = result.calls.filter(({ outcome }) => outcome !== 'ran');
  if (calls.length === 0) return [];
  const { report, title } = all[kind].scenarios[scenario];
  return [
    `${tools[adapter]}: ${report}, ${title}`,
    ...calls.flatMap(({ who, act, command, path, message, outcome, harms, note = '' }) => [
      `  ${who} ${outcome}${harms ? '' : ', harmless'}: ${command ?? path ?? message ?? act}`,
      ...note
        .trim()
        .split('\n')
        .map((line) => `      ${line}`),
    ]),
  ];
}

/** Replaces the table on the page. */
function writePage(lines) {
  const page = join(DOCS, 'proof.md');
  const block = `<!-- proof -->\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(/<!-- proof -->\n\n```text\n[^]*?\n```\n/, () => block),
  );
}

const began = performance.now();
await playAll();
const played = tools.filter((_, adapter) => plays.some((one) => one.adapter === adapter));
const results = all.map(({ kind, scenarios }, at) => ({
  kind,
  rows: scenarios.flatMap(({ report, title }, scenario) => {
    const found = played.map((name) =>
      plays.find((one) => one.kind === at && one.scenario === scenario && tools[one.adapter] === name),
    );
    return found[0] === undefined
      ? []
      : [{ report, title, counts: found.map(({ result }) => result.counts) }];
  }),
}));
const lines = tableLines(played, results);
console.log(lines.join('\n'));
const costs = played.map((name) =>
  plays.filter((one) => tools[one.adapter] === name).map(({ result }) => result.cost),
);
console.log(
  ['', ...costLines(played, costs), `all of it: ${Math.round((performance.now() - began) / 1_000)} s`].join(
    '\n',
  ),
);
if (options.calls) console.log(['', ...plays.toReversed().flatMap(callLines)].join('\n'));
if (options.page) {
  writePage(lines);
  writeFileSync(join(DOCS, 'proof.svg'), plot(totalsOf(played, results)));
}
