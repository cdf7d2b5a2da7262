import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld, OWNER, hostileCases } from '../support/guard.ts';

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
/** C0 but line feed and tab, C1, bidirectional, invisible and tag characters, runs of variation selectors. */
const STEERING =
  /[^\P{Cc}\n\t]|[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]{2,}|[\u{e0000}-\u{e0fff}]/u;
/** A joiner that joins no two pictures. */
const LONE_JOINER = /(?<!\p{Extended_Pictographic}\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})/u;

const bytesOf = ({ body, bodyBase64, generate }: BodyCase): Buffer =>
  bodyBase64 !== undefined
    ? Buffer.from(bodyBase64, 'base64')
    : Buffer.from(body ?? generate?.unit.repeat(generate.count) ?? '');

/** As a whole note, and as the section that the next session acts on. */
const SHAPES: readonly (readonly [string, (body: Buffer) => Buffer])[] = [
  ['as a whole note', (body) => body],
  ['as a next action', (body) => Buffer.concat([Buffer.from('# Next action\n\n'), body])],
];

let world: GuardWorld;
beforeAll(() => {
  world = new GuardWorld();
  world.sessionStart(OWNER);
});
afterAll(() => world.remove());

/** The one JSON object that a session gets at its start, for the note that was written last. */
function startText(): string {
  const run = world.guard({ session_id: CALLER, hook_event_name: 'SessionStart', source: 'startup' });
  const answer = JSON.parse(run.stdout) as { hookSpecificOutput: { additionalContext: string } };
  return answer.hookSpecificOutput.additionalContext;
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

/** Without the blanks at the end of each line, and without the mark before it. */
const trimmed = (text: string) => text.replace(/[ \t]+$/gm, '');
const unmarked = (text: string) => trimmed(text.replace(/^\| ?/gm, ''));

describe.each(SHAPES)('the text of a note, %s', (_shape, noteOf) => {
  it.each(cases)('$id stays data: $why', (one) => {
    const body = bytesOf(one);
    const note = noteOf(body);
    if (note.toString('latin1').trim() === '') return; // `write` refuses it
    const written = world.handoff(['write', 'some-work'], { session: OWNER, input: note });
    // A text over 1 MiB is refused and kept; the note before it is what is told then.
    expect([0, 2]).toContain(written.status);
    const text = startText();
    checkInvariants(text);
    for (const part of one.mustNotContain ?? []) expect(text).not.toContain(part);
    for (const part of one.mustContain ?? []) expect(text).toContain(part);
    if (one.expect === 'surface-unchanged') {
      const lines = unmarked(text).replace('Next action: ', '');
      expect(lines).toContain(trimmed(body.toString('utf8')));
    }
  });
});

it('has every case of the corpus', () => {
  expect(cases.length).toBeGreaterThanOrEqual(47);
});
