import { describe, expect, it } from 'vitest';
import { summarise } from '../../src/domain/handoff.ts';
import { noteExcerpt } from '../../src/domain/note/sections.ts';
import { startupText } from '../../src/domain/startup.ts';
import { escapeLine } from '../../src/domain/messages.ts';
import { hostileCases } from '../support/hostile-cases.ts';

interface BodyCase {
  readonly id: string;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly generate?: { readonly unit: string; readonly count: number };
  readonly expect: 'surface-neutralised' | 'surface-unchanged';
  readonly mustNotContain?: readonly string[];
  readonly mustContain?: readonly string[];
  readonly why: string;
}

const cases = hostileCases<BodyCase>('bodies.json');
const MAX_BYTES = 1600;
const BOUNDARY = /^--- .* \[([0-9a-f]{16,})\] ---$/gm;
/** Control (except line feed and tab), bidirectional, invisible and tag characters, and runs of variation selectors. */
const STEERING =
  /[^\P{Cc}\n\t]|[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]{2,}|[\u{e0000}-\u{e0fff}]/u;
/** A zero-width joiner that is not between two pictographs. */
const LONE_JOINER = /(?<!\p{Extended_Pictographic}\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})/u;

const bytesOf = ({ body, bodyBase64, generate }: BodyCase): Buffer =>
  bodyBase64 !== undefined
    ? Buffer.from(bodyBase64, 'base64')
    : Buffer.from(body ?? generate?.unit.repeat(generate.count) ?? '');

/** The two places of a body in a note. */
const SHAPES: readonly (readonly [string, (body: Buffer) => Buffer])[] = [
  ['as a whole note', (body) => body],
  ['as a next action', (body) => Buffer.concat([Buffer.from('# Next action\n\n'), body])],
];

/** What a session is told about a note at its start. (test/integration/hostile-bodies.test.ts runs some of these cases.) */
function startText(note: string): string {
  const facts = { session: 'sess-1', client: 'claude', branch: 'main', peers: [], files: [] };
  const told = {
    ...{ name: 'some-work', own: false, owner: 'bbbbbbbb', age: 'just now', remarks: [] },
    ...{ summary: summarise(note, escapeLine), excerpt: noteExcerpt(note) },
  };
  return startupText({ ...facts, notices: [], notes: [told] }, '0123456789abcdef');
}

function checkInvariants(text: string): void {
  expect(text).not.toMatch(STEERING);
  expect(text).not.toMatch(LONE_JOINER);
  const nonces = [...text.matchAll(BOUNDARY)].map(([, nonce]) => nonce);
  expect(nonces).toHaveLength(2);
  expect(nonces[0]).toBe(nonces[1]);
  expect(text.split(nonces[0] ?? 'none')).toHaveLength(3);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
}

/** Drops the blanks at the end of each line; `unmarked` also drops the mark at its beginning. */
const trimmed = (text: string) => text.replace(/[ \t]+$/gm, '');
const unmarked = (text: string) => trimmed(text.replace(/^\| ?/gm, ''));

describe.each(SHAPES)('the text of a hostile note at the start of a session, %s', (_shape, noteOf) => {
  it.each(cases)('$id stays data: $why', (one) => {
    const body = bytesOf(one);
    const note = noteOf(body);
    // `write` refuses empty notes and those over 1 MiB.
    if (note.toString('latin1').trim() === '' || note.length > 2 ** 20) return;
    const text = startText(note.toString('utf8'));
    checkInvariants(text);
    for (const part of one.mustNotContain ?? []) expect(text).not.toContain(part);
    for (const part of one.mustContain ?? []) expect(text).toContain(part);
    if (one.expect === 'surface-unchanged') {
      const lines = unmarked(text).replace('Next action: ', '');
      expect(lines).toContain(trimmed(body.toString('utf8')));
    }
  });
});

it('the corpus of hostile notes is complete', () => {
  expect(cases.length).toBeGreaterThanOrEqual(47);
});
