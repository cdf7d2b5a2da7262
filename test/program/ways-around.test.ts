import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuardWorld, CALLER, OWNER, markedNote } from '../support/guard.ts';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

describe('settings that decide', () => {
  let world: SharingWorld;
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'one\n');
  });
  afterEach(() => world.remove());

  it.each([
    ['alias.co', 'checkout', 'git co -b other'],
    ['alias.co', 'checkout', 'git co -b other # see handoff.md and /memory/x'],
    ['alias.wipe', '!git reset --hard', 'git wipe'],
    ['clean.requireForce', 'false', 'git clean -d'],
    ['rebase.autoStash', 'true', 'git rebase main'],
  ])('are known whatever the payload holds: %s=%s, %s', (key, value, command) => {
    world.write(A, 'src/new.ts', 'new\n');
    expect(world.may(B, command).kind).toBe('silent');
    world.git(['config', key, value]);
    expect(refusal(world.may(B, command))).toContain('session aaaaaaaa');
  });
});

describe('a value that a setting does not know', () => {
  it('is told to one session, and again when it changes', () => {
    const world = new SharingWorld();
    world.git(['config', 'handoff.verifyOperators', 'strict']);
    const told = (session: string) => {
      const answer = world.begin(session);
      return answer.kind === 'context' ? answer.text : '';
    };
    expect(told(A)).toContain('handoff.verifyoperators is set to "strict", which it does not know');
    expect(told(B)).not.toContain('does not know');
    world.git(['config', 'handoff.verifyOperators', 'loose']);
    expect(told(B)).toContain('"loose", which it does not know');
    expect(world.handoff(['doctor']).stdout).toContain('"loose", which it does not know');
    world.remove();
  });
});

describe("a session's own handoff file", () => {
  let world: GuardWorld;
  beforeEach(() => {
    world = new GuardWorld({ owner: CALLER });
  });
  afterEach(() => world.remove());

  const edits: readonly (readonly [string, object])[] = [
    ['Edit', { old_string: CALLER, new_string: OWNER }],
    ['Edit', { old_string: `<!-- claude-session: ${CALLER} -->`, new_string: markedNote(OWNER) }],
    ['MultiEdit', { edits: [{ old_string: `session: ${CALLER}`, new_string: `session: ${OWNER}` }] }],
    ['mcp__fs__edit_file', { edits: [{ oldText: CALLER, newText: OWNER }] }],
  ];

  it.each(edits)('does not get the marker of another session: %s %j', (tool, input) => {
    const path = { file_path: world.file };
    expect(refusal(world.before(tool, { ...path, ...input }))).toContain('wrong ownership marker');
    expect(world.before(tool, { ...path, old_string: 'secret', new_string: 'open' }).kind).not.toBe('deny');
  });

  it('does not get it by a patch', () => {
    const patch = `*** Begin Patch\n*** Update File: ${world.file}\n@@\n-<!-- claude-session: ${CALLER} -->\n+<!-- claude-session: ${OWNER} -->\n*** End Patch`;
    const payload = {
      session_id: CALLER,
      hook_event_name: 'PreToolUse',
      turn_id: 't',
      tool_name: 'apply_patch',
    };
    const input = JSON.stringify({ ...payload, cwd: world.path, tool_input: { command: patch } });
    const run = world.handoff(['guard'], { input });
    expect(run.stdout).toContain('wrong ownership marker');
  });

  it('is guarded when the payload begins with a byte order mark', () => {
    const foreign = join(world.memory, 'handoff-main-other-work.md');
    writeFileSync(foreign, markedNote(OWNER));
    const payload = {
      session_id: CALLER,
      cwd: world.path,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
    };
    const text = JSON.stringify({ ...payload, tool_input: { file_path: foreign, content: 'x' } });
    const run = world.handoff(['guard', '--client', 'claude'], { input: `\u{FEFF}${text}` });
    expect(run.stdout).toContain('Foreign session owns');
    expect(readFileSync(foreign, 'utf8')).toBe(markedNote(OWNER));
  });
});
