import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isYash } from '../support/shells.ts';
import { LauncherWorld, soloSession } from './launcher-world.ts';

let world: LauncherWorld;
let solo: string;
let plain: string;

beforeAll(() => {
  world = new LauncherWorld();
  solo = world.repository('solo', true);
  plain = world.repository('plain', false);
});
afterAll(() => world.remove());

/** A prompt as Claude Code tells it, which is long and mentions everything. */
const prompt = (cwd: string, more: object = {}): string =>
  JSON.stringify({
    session_id: soloSession,
    transcript_path: '/home/u/.claude/projects/-home-u-p/t.jsonl',
    cwd,
    hook_event_name: 'UserPromptSubmit',
    ...more,
    prompt: `why "handoff"?\n${'git reset --hard \\ '.repeat(500)}`,
  });

/** Whether it reached Node; in every case the guard has to be silent and to succeed. */
function asks(payload: string, client = 'claude'): boolean {
  const run = world.run(['guard', '--client', client], payload);
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  return run.node !== undefined;
}

describe.skipIf(isYash())('a prompt of the user', () => {
  it('costs no Node where no note can be due', () => {
    expect(asks(prompt(solo))).toBe(false);
    expect(asks(prompt(plain))).toBe(false);
    expect(asks(prompt('/'))).toBe(false);
    expect(asks(prompt(solo, { session_id: '../x' }), 'codex')).toBe(false);
    expect(asks(prompt(solo, { agent_id: 'a1' }), 'codex')).toBe(false);
  });

  it('is judged where the size of the context is set, or its client says it', () => {
    for (const client of ['codex', 'qwen']) expect(asks(prompt(solo), client)).toBe(true);
    world.git(solo, 'config', 'handoff.contextWindow', '200000');
    expect(asks(prompt(solo))).toBe(true);
    const gemini = { hook_event_name: 'BeforeAgent', timestamp: '2026-11-23T14:00:00.000Z' };
    expect(asks(prompt(solo, gemini), 'gemini')).toBe(true);
    expect(asks(prompt(solo, { agent_id: 'a1' }))).toBe(false);
    expect(asks(prompt(plain))).toBe(false);
    world.git(solo, 'config', '--unset', 'handoff.contextWindow');
  });

  it('is not judged again until a note was written', () => {
    const asked = join(solo, '.git', 'handoff', 'asked', soloSession);
    mkdirSync(join(asked, '..'), { recursive: true });
    writeFileSync(asked, 'none\n');
    const note = join(solo, '.git', 'refs', 'handoffs', 'main');
    mkdirSync(note, { recursive: true });
    const [before, after] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
    for (const place of [note, join(note, '..')]) utimesSync(place, before, before);
    expect(asks(prompt(solo), 'codex')).toBe(false);
    utimesSync(note, after, after);
    expect(asks(prompt(solo), 'codex')).toBe(true);
  });
});
