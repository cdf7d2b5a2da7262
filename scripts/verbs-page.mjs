/**
 * Writes docs/verbs.md: what `git handoff <verb> -h` prints, for every verb that the manual page lists. Needs the bundles
 * (npm run build).
 *
 *   node scripts/verbs-page.mjs [--check]      --check: exit status 1 if the committed page is out of date
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);
const FILE = join(ROOT, 'docs', 'verbs.md');
/** Options that every verb has: said once, at the top. */
const COMMON = /^ {2,6}(?:-h, )?--(?:json|session|help) .*\n/gm;
const HEAD = `# Verbs

<!-- Generated from the help texts by scripts/verbs-page.mjs. -->

\`git help handoff\` opens the manual, which says more about each. Every verb also takes \`-h\`, \`--json\` (print one JSON
object, see \`schema/output.schema.json\`) and \`--session <id>\` (act as this session; for people and tests). Names of
topics are \`<branch>/<topic>\`; without a branch, the current one is meant.
`;

const manual = readFileSync(join(ROOT, 'docs', 'git-handoff.1'), 'utf8');
const commands = /^\.SH COMMANDS\n(.*?)^\.SH /ms.exec(manual)?.[1] ?? '';
// `guard` is what the clients' hooks call; it has no help.
const verbs = [...commands.matchAll(/^\.SS "?([a-z]+)/gm)]
  .map(([, verb]) => verb)
  .filter((verb) => verb !== 'guard');
const page = HEAD + verbs.map((verb) => `\n## ${verb}\n\n\`\`\`text\n${helpOf(verb)}\`\`\`\n`).join('');

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, page);
} else if (readFileSync(FILE, 'utf8') !== page) {
  console.error('docs/verbs.md is out of date: node scripts/verbs-page.mjs');
  process.exitCode = 1;
}

function helpOf(verb) {
  const text = execFileSync(join(ROOT, 'bin', 'git-handoff'), [verb, '-h'], { encoding: 'utf8' });
  return text.replace(COMMON, '').replace(/Options:\n\n/, '');
}
