import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { short } from '../support/client/expectations.ts';
import {
  CLAUDE_HANDS,
  CODEX_HANDS,
  COPILOT_HANDS,
  GEMINI_HANDS,
  OPENCODE_HANDS,
  QWEN_HANDS,
  type Hands,
} from '../support/client/hands.ts';
import {
  expectRefusal,
  historyOf,
  messageOf,
  ownHookLog,
  type Shared,
  shareTree,
} from '../support/client/sharing.ts';

const PAIRS: readonly [string, Hands, Hands][] = [
  ['Claude Code and Claude Code', CLAUDE_HANDS, CLAUDE_HANDS],
  ['Claude Code and Codex', CLAUDE_HANDS, CODEX_HANDS],
  ['Codex and Claude Code', CODEX_HANDS, CLAUDE_HANDS],
  ['Claude Code and Gemini CLI', CLAUDE_HANDS, GEMINI_HANDS],
  ['Gemini CLI and Claude Code', GEMINI_HANDS, CLAUDE_HANDS],
  ['Copilot CLI and Claude Code', COPILOT_HANDS, CLAUDE_HANDS],
  ['Copilot CLI and Copilot CLI', COPILOT_HANDS, COPILOT_HANDS],
  ['Claude Code and Qwen Code', CLAUDE_HANDS, QWEN_HANDS],
  ['Qwen Code and Claude Code', QWEN_HANDS, CLAUDE_HANDS],
  ['Claude Code and OpenCode', CLAUDE_HANDS, OPENCODE_HANDS],
  ['OpenCode and Claude Code', OPENCODE_HANDS, CLAUDE_HANDS],
];

async function expectWhole({ world }: Shared): Promise<void> {
  for (const command of ['git status --porcelain', 'git diff --cached', 'git diff HEAD']) {
    expect(await world.output(command)).toBe('');
  }
  const fsck = await world.shell('git fsck --full --strict --no-dangling --no-progress');
  expect(fsck).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(await world.output('cat a.txt b.txt made.txt')).toBe('hello of A\nmade by B\nmade by B');
  expect(await world.output("find .git -name '*.lock'")).toBe('');
}

describe('two simultaneous sessions in one working tree', () => {
  it.each(PAIRS)('commit their own work and nothing else: %s', async (_, first, second) => {
    const shared = await shareTree(first, second);
    const { world, a, b } = shared;
    expect(b.denied, world.guardLog()).toContain(`${short(a.session)} changed it just now`);
    expect(b.denied).toContain('Work on something else, and try again later.');
    expectRefusal(first, a.refused, b.session, ['b.txt', 'made.txt']);
    expectRefusal(second, b.refused, a.session, ['a.txt']);

    const history = await historyOf(world);
    expect(history, a.followed + b.followed + world.guardLog()).toMatchObject([
      { paths: ['a.txt'], sessions: [a.session] },
      { paths: ['b.txt', 'made.txt'], sessions: [b.session] },
    ]);
    const [ofA, ofB] = history;
    expect(ofA?.message).toBe(messageOf('A'));
    expect(ofB?.message).toBe(messageOf('B'));
    await expectWhole(shared);
    expect(readFileSync(ownHookLog(world), 'utf8')).toBe(`${ofA?.oid}\n${ofB?.oid}\n`);
    expect((await world.shell('git handoff check')).status).toBe(0);

    const news = (session: string, oid = ''): string[] => [
      `${short(session)} committed ${oid.slice(0, 7)} on main`,
    ];
    expect(a.news).toEqual(news(b.session, ofB?.oid));
    expect(b.news).toEqual(news(a.session, ofA?.oid));
  });
});
