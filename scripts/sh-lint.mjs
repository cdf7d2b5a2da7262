// Bash 3.2 is the /bin/sh of macOS. It finds the end of `$(` by counting parentheses, so a `case` pattern inside needs both
// parentheses, `(a | b)`; otherwise it cannot parse the script. `node scripts/sh-lint.mjs` finds such places in our sh files
// on machines without bash 3.2; test/sh/parse.test.ts runs the installed shells.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const OUTSIDE = /\\[^]|'[^']*'|(?<=^|[\s;&|(])#.*|\$\(|\$?\w+|[^]/gy;
const IN_QUOTES = /\\[^]|\$\(|[^]/gy;

/**
 * The numbers of the lines, from 1, at which bash 3.2 would misread a `$(` or a quotation: end it too early, or never.
 * @param {string} script
 * @returns {number[]}
 */
export function endsTooEarly(script) {
  const found = [];
  const open = [{ by: '', line: 0, depth: 0, cases: 0 }];
  for (let at = 0, line = 1; at < script.length;) {
    const top = open.at(-1);
    const pattern = top.by === '"' ? IN_QUOTES : OUTSIDE;
    pattern.lastIndex = at;
    const [token] = pattern.exec(script);
    if (token === '$(' || (token === '"' && top.by !== '"'))
      open.push({ by: token, line, depth: 0, cases: 0 });
    else if (token === '"') open.pop();
    else if (token === 'case') top.cases += 1;
    else if (token === 'esac') top.cases -= 1;
    else if (token === '(') top.depth += 1;
    else if (token === ')' && top.by === '$(' && top.depth-- === 0) {
      if (top.cases !== 0) found.push(top.line);
      open.pop();
    }
    at += token.length;
    line += token.split('\n').length - 1;
  }
  return [...found, ...open.slice(1).map((one) => one.line)];
}

/**
 * The lines with non-ASCII characters, at which yash stops reading in the C locale.
 * @param {string} script
 * @returns {number[]}
 */
export function moreThanAscii(script) {
  return script.split('\n').flatMap((line, at) => (/^[\0-\x7f]*$/.test(line) ? [] : [at + 1]));
}

/** Our sh files, recognised by their first line or their name. */
export function shFiles() {
  const listed = execFileSync('git', ['ls-files', '-z', '--', '.ci', 'bin', 'git-hooks', 'scripts'], {
    cwd: ROOT,
  });
  const paths = listed.toString().split('\0').slice(0, -1);
  return paths.filter(
    (path) => path.endsWith('.sh') || /^#!.*\b(?:ba)?sh\n/.test(readFileSync(join(ROOT, path), 'latin1')),
  );
}

/** What is wrong in our sh files, one line for each place. */
export function findings() {
  const rules = [
    [
      endsTooEarly,
      'bash 3.2 (macOS) cannot find the end of this; write case patterns inside `$(` as (a | b)',
    ],
    [moreThanAscii, 'yash cannot read this where the locale is C; write ASCII'],
  ];
  return shFiles().flatMap((path) => {
    const script = readFileSync(join(ROOT, path), 'utf8');
    return rules.flatMap(([lines, why]) => lines(script).map((line) => `${path}:${line}: ${why}`));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = findings();
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
