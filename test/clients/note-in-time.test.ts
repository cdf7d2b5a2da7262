import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { exec, prepareCodex, runCodex, trustCodexHooks } from '../support/client/codex.ts';
import { bash as copilotShell, prepareCopilot, runCopilot } from '../support/client/copilot.ts';
import { expectHealthy } from '../support/client/expectations.ts';
import { prepareQwen, qwenShell, runQwen } from '../support/client/qwen.ts';
import { beginning, expectWell } from '../support/client/run.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld, createWorld } from '../support/client/world.ts';
import { say } from '../support/model/script.ts';

const WRITE_NOTE = "printf 'goal: refresh tokens\\n' | git handoff write main/auth-refresh";
const ASKED = /context (\d+) % full: write the note now:\s+git handoff write (\S+?)(?:-[0-9a-f]{8})?\s/;

/** The reminder before each turn of the model: `<percent> <topic>`, or nothing. The topic is shown without the session's id. */
function asked(told: readonly (readonly string[])[]): string[] {
  return told.map((texts) => ASKED.exec(texts.join('\n'))?.slice(1).join(' ') ?? '');
}

describe('a session is reminded of its note in time', () => {
  it('in Claude Code with a prompt, and not again once it has written one', async () => {
    const world = await createInstalledWorld();
    await world.output('git config handoff.contextWindow 200000');
    const file = path.join(world.repository, 'new.txt');
    const turns = [
      write(file, 'x\n'),
      say('1', { read: 100_000 }),
      say('2', { read: 156_000 }),
      bash(WRITE_NOTE, { read: 156_000 }),
      say('3', { read: 157_000 }),
      say('4', { read: 158_000 }),
    ];
    const run = await runClaude(world, { turns }, { prompts: ['go', 'on', 'and on', 'and on'] });
    expectHealthy(run);
    // At a prompt, the transcript ends with the turn before: the second prompt finds 100,000 tokens, the third 156,000.
    expect(asked(run.conversation.userTexts()).filter(Boolean)).toEqual(['78 work-of']);
    expect(run.conversation.userTexts()[3]?.join('\n')).toMatch(ASKED);
  });

  it('in Claude Code at the end of a turn, which then continues, once', async () => {
    const world = await createInstalledWorld();
    await world.output('git config handoff.contextWindow 200000');
    const file = path.join(world.repository, 'new.txt');
    const turns = [
      write(file, 'x\n'),
      bash('echo looked', { read: 180_000 }),
      say('1', { read: 181_000 }),
      bash(WRITE_NOTE, { read: 182_000 }),
      say('2', { read: 183_000 }),
    ];
    const run = await runClaude(world, { turns });
    expectHealthy(run);
    expect(asked(run.conversation.userTexts()).filter(Boolean)).toEqual(['90 work-of']);
    expect(await world.output('git handoff list')).toContain('main/auth-refresh');
  });

  it('in Codex with --context-nudge, from its transcript', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareCodex(world);
    await world.output('git handoff init --yes --client codex --context-nudge');
    expect(await trustCodexHooks(world)).toContain('userPromptSubmit');
    const work = exec('echo x > new.txt');
    const first = await runCodex(world, { turns: [work, say('1', { read: 200_000 })] });
    const resumed = { resume: first.session };
    const second = await runCodex(world, { turns: [exec(WRITE_NOTE), say('2', { read: 210_000 })] }, resumed);
    const third = await runCodex(world, { turns: [say('3')] }, resumed);
    for (const run of [first, second, third]) expectWell(run);
    expect([first, second, third].map((run) => asked([[beginning(run)]])[0])).toEqual(['', '77 work-of', '']);
  });

  it('in Copilot CLI, whose session file says how large the context is', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareCopilot(world);
    await world.output('git handoff init --yes --client copilot');
    const first = await runCopilot(world, {
      turns: [copilotShell('echo x > new.txt'), say('1', { read: 740_000 })],
    });
    const resumed = { args: [`--resume=${first.session}`] };
    const turns = [copilotShell(WRITE_NOTE), say('2', { read: 750_000 })];
    const second = await runCopilot(world, { turns }, resumed);
    const third = await runCopilot(world, { turns: [say('3')] }, resumed);
    for (const run of [first, second, third]) expectWell(run);
    expect([first, second, third].map((run) => asked([[beginning(run)]])[0])).toEqual(['', '80 work-of', '']);
  });

  it('in Qwen Code, whose session file says how large the context is', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareQwen(world);
    await world.output('git handoff init --yes --client qwen');
    await world.output('git switch -q -c feature/rate-limit');
    // Qwen Code shrinks its context from 70 percent on.
    await world.output('git config handoff.contextNudge 60');
    const first = await runQwen(world, {
      turns: [qwenShell('echo x > new.txt'), say('1', { read: 650_000 })],
    });
    const second = await runQwen(
      world,
      { turns: [qwenShell(WRITE_NOTE), say('2')] },
      { resume: first.session },
    );
    for (const run of [first, second]) expectWell(run);
    expect(asked([[beginning(first)], [beginning(second)]])).toEqual(['', '65 rate-limit']);
  });
});
