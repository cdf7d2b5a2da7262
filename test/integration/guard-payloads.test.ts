import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GuardWorld } from '../support/guard.ts';
import { type CapturedPayload, capturedPayloads } from '../support/payloads.ts';

/** Payloads that real clients sent to hooks. Most get no answer; the others get one that their event allows. */

describe.each(['claude', 'claude-new'])('payloads of %s', (version) => {
  const captured = capturedPayloads(version);
  let world: GuardWorld;
  beforeAll(() => {
    world = new GuardWorld();
    // The captured session had changed into this folder.
    mkdirSync(join(world.path, 'sub'));
  });
  afterEach(() => world.clearLog());
  afterAll(() => world.remove());

  /** Replaces the folders in the captured payload by this world's. */
  function placed({ payload, env }: CapturedPayload): Pick<CapturedPayload, 'payload' | 'env'> {
    const text = JSON.stringify({ payload, env });
    return JSON.parse(
      text.replaceAll('/repo', world.path).replaceAll('/home/dev', world.home),
    ) as CapturedPayload;
  }

  it('cover every event that the guard answers', () => {
    const events = captured.map(({ payload }) => payload['hook_event_name']);
    expect(events).toEqual(
      expect.arrayContaining([
        'PreToolUse',
        'PostToolUse',
        'SessionStart',
        'SessionEnd',
        'Stop',
        'SubagentStart',
      ]),
    );
  });

  it.each(captured)('$name', (one) => {
    const { payload, env } = placed(one);
    mkdirSync(String(payload['cwd']), { recursive: true });
    const answer = world.hook(payload, { env });
    expect(answer.kind).toBe(payload['hook_event_name'] === 'SessionStart' ? 'context' : 'silent');
    expect(world.log()).toEqual([]);
  });
});
