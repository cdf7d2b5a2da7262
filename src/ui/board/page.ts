import { createHash } from 'node:crypto';
import type { Board } from './shape.ts';

export interface Assets {
  readonly script: string;
  readonly style: string;
}

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page's Content-Security-Policy: its one script and its one style are allowed, and nothing else. */
export function boardPolicy({ script, style }: Assets): string {
  const rules = [
    `default-src 'none'`,
    `script-src ${sha256(script)}`,
    `style-src ${sha256(style)}`,
    `base-uri 'none'`,
    `form-action 'none'`,
    // No text may become markup or script: our own script only sets textContent.
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ];
  return rules.join('; ');
}

/**
 * Returns JSON for a script element of the type application/json. It contains no `<`, which could end the element or begin a
 * comment, and none of the characters that end a line in a script but not in JSON.
 */
export function embeddedJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

const escapeMarkup = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns one self-contained page. `start` is what comes before its head. */
export function boardPage(board: Board, assets: Assets, start: string): string {
  return `${start}
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeMarkup(boardPolicy(assets))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeMarkup(board.repository)} · git handoff board</title>
<style>${assets.style}</style>
</head>
<body>
<div id="app"></div>
<noscript><p>This page draws itself with a script. The same in a terminal: git handoff sessions --all; git handoff list --all</p></noscript>
<script type="application/json" id="board">${embeddedJson(board)}</script>
<script>${assets.script}</script>
</body>
</html>
`;
}
