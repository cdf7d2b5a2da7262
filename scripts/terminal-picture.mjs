/**
 * Writes docs/terminal.svg, the README's picture of a terminal: a refused commit, and the one to make instead, as the demo
 * printed them. Object names and the repository's folder differ from run to run, so they are replaced by invented ones.
 * Nothing else is changed.
 *
 *   node scripts/terminal-picture.mjs [--check]      --check: exit status 1 if the committed picture differs
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);
const FILE = join(ROOT, 'docs', 'terminal.svg');
/** The part of the demo that is shown begins with `FROM`, and ends before `TO`. */
const FROM = '# A and B each change a file.';
const TO = "# A's change is still there";
const COLUMNS = 102;
const CHARACTER = 7.8; // pixels, at 13 pixels of a monospaced font
const LINE = 19;
const MARGIN = 18;
const TITLE_BAR = 30;
const STYLE = `
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#1f2328}
.back{fill:#f6f8fa;stroke:#d1d9e0}.dot{fill:#d1d9e0}.note{fill:#59636e}.a{fill:#0550ae;font-weight:bold}
.b{fill:#8250df;font-weight:bold}.error{fill:#b3141d}.hint{fill:#0f6a2f}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117;stroke:#30363d}.dot{fill:#30363d}
.note{fill:#9198a1}.a{fill:#79c0ff}.b{fill:#d2a8ff}.error{fill:#ff8982}.hint{fill:#56d364}}
`;

const picture = draw(wrap(steady(scenes(playDemo()))));
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, picture);
} else if (readFileSync(FILE, 'utf8') !== picture) {
  console.error('docs/terminal.svg is not what the demo prints now: node scripts/terminal-picture.mjs');
  process.exitCode = 1;
}

function playDemo() {
  const folder = mkdtempSync(join(tmpdir(), 'git-handoff-picture-'));
  try {
    const env = { ...process.env, TMPDIR: folder };
    return execFileSync(process.execPath, [join(ROOT, 'scripts', 'demo.mjs')], { env, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function scenes(output) {
  const text = output.slice(output.indexOf(FROM), output.indexOf(TO));
  if (!text.startsWith(FROM)) throw new Error(`the demo has no scene "${FROM}"`);
  return text.trimEnd().split('\n');
}

/** Replaces the n-th object name, and its abbreviations, by the n-th invented one. */
function steady(lines) {
  const made = [];
  const names = [];
  const replace = (name) => {
    let index = names.findIndex((known) => known.startsWith(name) || name.startsWith(known));
    if (index < 0) index = names.push(name) - 1;
    else if (names[index].length < name.length) names[index] = name;
    made[index] ??= createHash('sha1').update(`picture ${index}`).digest('hex');
    return made[index].slice(0, name.length);
  };
  return lines.map((line) =>
    line
      .replaceAll(/\b(?:[0-9a-f]{40}|[0-9a-f]{12}|(?<=committed )[0-9a-f]{7})\b/g, replace)
      .replaceAll(/\d+ (?:second|minute)s? ago/g, 'just now')
      .replaceAll(/\/\S+\/git-handoff-demo-\w+\/project\b/g, '~/app'),
  );
}

/** Breaks each long line after a space in its second half, or else at the last column. */
function wrap(lines) {
  return lines.flatMap((line) => {
    const rows = [{ text: line, kind: kindOf(line) }];
    while (rows.at(-1).text.length > COLUMNS) {
      const { text, kind } = rows.pop();
      const space = text.lastIndexOf(' ', COLUMNS);
      const at = space > COLUMNS / 2 ? space + 1 : COLUMNS;
      rows.push(
        { text: text.slice(0, at), kind },
        { text: text.slice(at), kind: kind.replace(/[ab]/, 'typed') },
      );
    }
    return rows;
  });
}

function kindOf(line) {
  if (/^[AB]\$ /.test(line)) return line[0].toLowerCase();
  if (line.startsWith('#') || line.startsWith('(exit')) return 'note';
  return /^(error|hint):/.exec(line)?.[1] ?? 'plain';
}

function draw(rows) {
  const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = TITLE_BAR + rows.length * LINE + MARGIN;
  const dots = [0, 1, 2].map((n) => `<circle class="dot" cx="${MARGIN + 5 + 18 * n}" cy="17" r="5"/>`);
  const lines = rows.flatMap((row, index) => drawRow(row, TITLE_BAR + (index + 1) * LINE - 4));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>A refused commit, and the one to make instead, in a terminal</title>',
    `<style>${STYLE}</style>`,
    `<rect class="back" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...dots,
    ...lines,
    '</svg>\n',
  ].join('\n');
}

function drawRow({ text, kind }, y) {
  if (text === '') return [];
  const typed = kind === 'a' || kind === 'b';
  const content = typed
    ? `<tspan class="${kind}">${text.slice(0, 2)}</tspan>${escape(text.slice(2))}`
    : escape(text);
  const name = ['error', 'hint', 'note'].includes(kind) ? ` class="${kind}"` : '';
  return [`<text${name} x="${MARGIN}" y="${y}">${content}</text>`];
}

function escape(text) {
  return text.trimEnd().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
