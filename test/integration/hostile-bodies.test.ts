import { afterAll, expect, it } from 'vitest';
import { CALLER, GuardWorld, OWNER } from '../support/guard.ts';
import { hostileCases } from '../support/hostile-cases.ts';

/** One case of each sort. test/unit/hostile-bodies.test.ts runs all cases. */
const SAMPLE = ['BO001', 'BO010', 'BO020', 'BO030', 'BO040', 'BO061'];
const cases = hostileCases<{
  readonly id: string;
  readonly why: string;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly generate?: { readonly unit: string; readonly count: number };
  readonly mustNotContain?: readonly string[];
}>('bodies.json').filter(({ id }) => SAMPLE.includes(id));

const world = new GuardWorld();
world.sessionStart(OWNER);
afterAll(() => world.remove());

it.each(cases)(
  'a session that starts reads a hostile note between two marks that the note cannot know: $id $why',
  ({ body, bodyBase64, generate, mustNotContain = [] }) => {
    const note =
      bodyBase64 !== undefined
        ? Buffer.from(bodyBase64, 'base64')
        : (body ?? generate?.unit.repeat(generate.count) ?? '');
    expect(world.handoff(['write', 'some-work'], { session: OWNER, input: note }).status).toBe(0);
    const answer = world.sessionStart(CALLER);
    const text = answer.kind === 'context' ? answer.text : '';
    const marks = [...text.matchAll(/^--- .* \[([0-9a-f]{16,})\] ---$/gm)].map(([, mark]) => mark);
    expect(marks).toHaveLength(2);
    expect(marks[0]).toBe(marks[1]);
    for (const part of mustNotContain) expect(text).not.toContain(part);
  },
);
