import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld, OWNER, markedNote } from '../support/guard.ts';
import type { HookAnswer } from '../support/hook-answer.ts';
import { containing, matching } from '../support/matchers.ts';

let world: GuardWorld;
beforeEach(() => {
  world = new GuardWorld();
  world.sessionStart(CALLER);
});
afterEach(() => world.remove());

function stop(session = CALLER, more: object = {}): HookAnswer {
  return world.hook({ hook_event_name: 'Stop', session_id: session, stop_hook_active: false, ...more });
}

const work = () => writeFileSync(join(world.path, 'new.txt'), 'work\n');

describe('a session that stops', () => {
  it('with work and no note is reminded once, by a message that blocks nothing', () => {
    work();
    expect(stop()).toEqual({
      kind: 'notice',
      text: matching(
        /^Handoff reminder: claude sess-aaa stopped with 1 uncommitted file and no note\. Tell it: "leave a handoff"\.$/,
      ),
    });
    expect(stop()).toEqual({ kind: 'silent' });
  });

  it('hears nothing about changes that others made, or that were there before it', () => {
    work();
    expect(stop('sess-cccccccc-3333')).toEqual({ kind: 'silent' });
    const early = new GuardWorld();
    writeFileSync(join(early.path, 'old.txt'), 'untracked for months\n');
    early.sessionStart(CALLER);
    const call = { hook_event_name: 'Stop', session_id: CALLER, stop_hook_active: false };
    expect(early.hook(call)).toEqual({ kind: 'silent' });
    early.remove();
  });

  it('with nothing changed hears nothing', () => {
    expect(stop()).toEqual({ kind: 'silent' });
  });

  it('with a note of its own hears nothing', () => {
    work();
    world.ok(['write', 'own-notes', '-m', 'x'], { session: CALLER });
    expect(stop()).toEqual({ kind: 'silent' });
  });

  it("with a note in the predecessor's form hears nothing", () => {
    work();
    writeFileSync(join(world.memory, 'handoff-main-own-notes.md'), markedNote(CALLER));
    expect(stop()).toEqual({ kind: 'silent' });
  });

  it('again in the same turn hears nothing, and is reminded later', () => {
    work();
    expect(stop(CALLER, { stop_hook_active: true })).toEqual({ kind: 'silent' });
    expect(stop()).toMatchObject({ kind: 'notice' });
  });
});

describe('a sub-agent', () => {
  it("obeys the rules of the session's files", () => {
    const input = { file_path: world.file, content: markedNote(CALLER) };
    const agent = { agent_id: 'agent1', agent_type: 'general-purpose' };
    expect(world.hook({ ...agent, tool_name: 'Write', tool_input: input })).toMatchObject({
      kind: 'deny',
      text: containing(OWNER.slice(0, 8)),
    });
  });
});
