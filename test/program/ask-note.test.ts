import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type HookAnswer, readAnswer } from '../support/hook-answer.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
let transcript: string;

beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
  onTestFinished(() => world.remove());
  transcript = join(world.root, 'transcript.jsonl');
  world.git(['config', 'handoff.contextWindow', '200000']);
});

const answered = (tokens: number, more: object = {}) =>
  JSON.stringify({
    type: 'assistant',
    isSidechain: false,
    message: {
      usage: { input_tokens: 10, cache_read_input_tokens: tokens - 30, cache_creation_input_tokens: 20 },
    },
    ...more,
  });
const filled = (...lines: string[]) => writeFileSync(transcript, `${lines.join('\n')}\n`);
const event = (name: string, more: object = {}): HookAnswer => {
  const payload = { session_id: A, hook_event_name: name, cwd: world.path, transcript_path: transcript };
  return readAnswer(world.guard({ ...payload, ...more }), name);
};
/** The time of a note is in whole seconds. */
const later = () => setTimeout(2100);
const prompt = (more: object = {}) => event('UserPromptSubmit', { ...more, prompt: 'go "on",\nplease' });
const stop = (more: object = {}) => event('Stop', { stop_hook_active: false, ...more });
const silent = { kind: 'silent' };
const asks = (percent: number, topic: string) => ({
  kind: 'context',
  text: expect.stringContaining(
    `context ${percent} % full: write the note now:\ngit handoff write ${topic} --file - <<'NOTE'\n`,
  ) as string,
});

describe('a session is asked for a note', () => {
  it('once, from 75 percent of its context on, if it has worked', () => {
    world.write(A, 'src/a.ts', 'new\n');
    filled(answered(149_000));
    expect(prompt()).toEqual(silent);
    filled(answered(157_000));
    expect(prompt()).toEqual(asks(78, 'work-of-aaaaaaaa'));
    expect(prompt()).toEqual(silent);
    expect(stop()).not.toMatchObject({ kind: 'context' });
  });

  it('again if it has worked since its note, by that note’s topic', async () => {
    world.write(A, 'src/a.ts', 'new\n');
    filled(answered(180_000));
    expect(prompt()).toEqual(asks(90, 'work-of-aaaaaaaa'));
    world.bash(A, "git handoff write auth-refresh -m 'half of it'");
    expect(prompt()).toEqual(silent);
    await later();
    world.write(A, 'src/b.ts', 'more\n');
    expect(prompt()).toEqual(asks(90, 'main/auth-refresh'));
    expect(prompt()).toEqual(silent);
  });

  it('even if all of its work is committed', () => {
    filled(answered(180_000));
    expect(prompt()).toEqual(silent);
    world.bash(A, 'echo new >src/a.ts && git commit -qam new');
    expect(prompt()).toMatchObject({ kind: 'context' });
  });

  it('by its branch’s name if that is a valid topic', () => {
    world.git(['switch', '-q', '-c', 'feature/rate-limit']);
    world.write(A, 'src/a.ts', 'new\n');
    filled(answered(180_000));
    expect(prompt()).toEqual(asks(90, 'rate-limit'));
  });

  it('at the end of a turn, which then continues: the session stays at work', () => {
    world.begin(B);
    world.write(A, 'src/a.ts', 'new\n');
    filled(answered(180_000));
    expect(stop()).toMatchObject({ kind: 'context' });
    expect(world.handoff(['take', '--', 'src/a.ts'], { session: B }).stderr).toContain('which is at work');
    expect(stop({ stop_hook_active: true })).toEqual(silent);
    world.ok(['take', '--', 'src/a.ts'], { session: B });
  });

  it('at the end of a turn, once per session', async () => {
    world.write(A, 'src/a.ts', 'new\n');
    filled(answered(180_000));
    expect(stop({ stop_hook_active: true })).toEqual(silent);
    expect(stop()).toEqual(asks(90, 'work-of-aaaaaaaa'));
    expect(prompt()).toEqual(silent);
    world.bash(A, "git handoff write auth-refresh -m 'half of it'");
    await later();
    world.write(A, 'src/b.ts', 'more\n');
    expect(stop()).toEqual(silent);
    expect(prompt()).toEqual(asks(90, 'main/auth-refresh'));
  });
});

describe('nobody is asked', () => {
  beforeEach(() => {
    world.write(A, 'src/a.ts', 'new\n');
    filled(answered(180_000));
  });

  it('in a sub-agent, or because a sub-agent has filled its own context', () => {
    expect(prompt({ agent_id: 'agent1' })).toEqual(silent);
    filled(answered(20_000), answered(190_000, { isSidechain: true }));
    expect(prompt()).toEqual(silent);
  });

  it('where asking is switched off, or the size of the context window is unknown', () => {
    for (const off of ['0', 'false']) {
      world.git(['config', 'handoff.contextNudge', off]);
      expect(prompt()).toEqual(silent);
    }
    world.git(['config', 'handoff.contextNudge', '95']);
    expect(prompt()).toEqual(silent);
    world.git(['config', '--unset', 'handoff.contextNudge']);
    world.git(['config', '--unset', 'handoff.contextWindow']);
    expect(prompt()).toEqual(silent);
    world.git(['config', 'handoff.contextWindow', '200000']);
    expect(prompt()).toMatchObject({ kind: 'context' });
  });

  it('before a compaction, or after one before the model has answered', () => {
    expect(event('PreCompact', { trigger: 'auto' })).toEqual(silent);
    filled(answered(180_000), JSON.stringify({ type: 'system', subtype: 'compact_boundary' }));
    expect(prompt()).toEqual(silent);
  });

  it('because of a transcript that is no regular file or says nothing', () => {
    const fifo = join(world.root, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const link = join(world.root, 'link');
    symlinkSync('/dev/zero', link);
    for (const path of [
      fifo,
      link,
      world.root,
      '/dev/zero',
      join(world.root, 'absent'),
      'transcript.jsonl',
      '',
      7,
      null,
    ])
      expect(prompt({ transcript_path: path })).toEqual(silent);
    for (const text of [
      '',
      '\0'.repeat(100_000),
      '{"type":"assistant"',
      `{"type":"assistant","message":7}`,
      '[[[['.repeat(9),
    ]) {
      filled(text);
      expect(prompt()).toEqual(silent);
    }
  });

  it('because of an answer before the last 64 KiB of the transcript', () => {
    filled(answered(180_000), JSON.stringify({ type: 'user', text: 'x'.repeat(70_000) }));
    expect(prompt()).toEqual(silent);
    filled(JSON.stringify({ type: 'user', text: 'x'.repeat(70_000) }), answered(180_000));
    expect(prompt()).toMatchObject({ kind: 'context' });
  });
});
