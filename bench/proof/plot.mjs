/** The README's plot, as SVG: for each count, one bar per tool. */
import { COUNTS } from './oracle.mjs';

const SHOWN = ['lost', 'away', 'mixed', 'astray', 'notes', 'wrong'];
const WIDTH = 760;
const LABEL = 130; // pixels for the names
const BAR = 15;
const GAP = 26;
const STYLE = `
text{font:13px ui-sans-serif,system-ui,"DejaVu Sans",sans-serif;fill:#1f2328}
.what{font-weight:bold}.back{fill:#f6f8fa;stroke:#d1d9e0}.bar{fill:#8c959f}.ours{fill:#1a7f37}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117;stroke:#30363d}.bar{fill:#6e7681}.ours{fill:#3fb950}}
`;

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** @param {{ name: string, counts: Record<string, number> }[]} totals */
export function plot(totals) {
  const columns = 2;
  const column = WIDTH / columns;
  const room = column - LABEL - 60;
  const most = Math.max(1, ...totals.flatMap(({ counts }) => SHOWN.map((count) => counts[count])));
  const height = GAP + totals.length * (BAR + 4) + 14;
  const rows = Math.ceil(SHOWN.length / columns);
  const panels = SHOWN.map((count, at) => {
    const left = (at % columns) * column + 16;
    const top = Math.floor(at / columns) * height + 12;
    const bars = totals.map(({ name, counts }, n) => {
      const y = top + GAP + n * (BAR + 4);
      const width = Number(((counts[count] / most) * room).toFixed(1));
      const kind = name === 'git-handoff' ? 'ours' : 'bar';
      return [
        `<text x="${left}" y="${y + 12}">${escape(name)}</text>`,
        `<rect class="${kind}" x="${left + LABEL}" y="${y}" width="${Math.max(width, 1)}" height="${BAR}" rx="2"/>`,
        `<text x="${(left + LABEL + Math.max(width, 1) + 6).toFixed(1)}" y="${y + 12}">${counts[count]}</text>`,
      ].join('');
    });
    return [`<text class="what" x="${left}" y="${top + 14}">${COUNTS[count]}</text>`, ...bars].join('\n');
  });
  const all = rows * height + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${all}" role="img">`,
    `<title>${escape(titleOf(totals))}</title><style>${STYLE}</style>`,
    `<rect class="back" x="0.5" y="0.5" width="${WIDTH - 1}" height="${all - 1}" rx="8"/>`,
    ...panels,
    '</svg>\n',
  ].join('\n');
}

/** The title, for those who cannot see the bars. */
const titleOf = (totals) =>
  totals
    .map(
      ({ name, counts }) =>
        `${name}: ${SHOWN.map((count) => `${counts[count]} ${COUNTS[count]}`).join(', ')}`,
    )
    .join('; ');
