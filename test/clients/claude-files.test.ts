import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { bash, edit, read, write } from '../support/client/tools.ts';
import { createInstalledWorld, createWorld, type World } from '../support/client/world.ts';
import { say } from '../support/model/script.ts';

/** A handoff file in Claude Code's memory folder of this repository, where it never asks before it writes. */
function ownFile({ home, repository }: World): string {
  return handoffFile(path.join(home, '.claude'), repository.replaceAll(/[^A-Za-z0-9]/g, '-'));
}

function handoffFile(parent: string, project: string): string {
  return path.join(parent, 'projects', project, 'memory', 'handoff-main-auth-refresh.md');
}

function marker(session: string): string {
  return `<!-- claude-session: ${session} -->`;
}

function contentOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

describe('a first Write of a handoff file without a marker', () => {
  it.each(['bypassPermissions', 'default'] as const)(
    'adds the marker at once (%s)',
    async (permissionMode) => {
      const world = await createInstalledWorld();
      const file = ownFile(world);
      const script = { turns: [write(file, 'goal: refresh tokens\n'), say('done')] };
      const run = await runClaude(world, script, { permissionMode });
      expectHealthy(run);
      expect(run.conversation.toolResults()).toMatchObject([{ tool: 'Write', failed: false }]);
      expect(contentOf(file)).toBe(`${marker(run.session)}\ngoal: refresh tokens\n`);
    },
  );

  // Inside `~/.claude`, Claude Code asks even if a hook approves, so the test needs a folder elsewhere.
  it.each(['sensitive', 'plain'] as const)(
    'does not approve what the person would have been asked about (%s folder)',
    async (kind) => {
      const installed = await createInstalledWorld();
      const bare = await createWorld();
      onTestFinished(() => bare.remove());
      const outcomes = [];
      for (const world of [bare, installed]) {
        const parent = kind === 'sensitive' ? path.join(world.home, '.claude') : world.repository;
        const file = handoffFile(parent, 'another-project');
        const script = { turns: [write(file, 'goal: refresh tokens\n'), say('done')] };
        const run = await runClaude(world, script, { permissionMode: 'default' });
        expectHealthy(run);
        const rewritten = run.hooks.some(({ stdout }) => stdout.includes('updatedInput'));
        expect(rewritten, world.guardLog()).toBe(world === installed);
        const results = run.conversation.toolResults().map(({ failed, output }) => ({
          failed,
          output: output.replaceAll(world.root, '<world>'),
        }));
        outcomes.push({ results, content: contentOf(file) });
      }
      const [without, withGuard] = outcomes;
      expect(without).toMatchObject({ results: [{ failed: true }], content: undefined });
      expect(withGuard).toEqual(without);
    },
  );
});

describe("another session's handoff file", () => {
  it('cannot be changed by Write, Edit or the shell, and the model is told why', async () => {
    const world = await createInstalledWorld();
    const file = ownFile(world);
    const a = await runClaude(world, { turns: [write(file, 'goal: refresh tokens\n'), say('done')] });
    expectHealthy(a);
    const before = contentOf(file);
    expect(before).toContain(marker(a.session));

    const attempts = [
      write(file, 'goal: something else\n'),
      edit(file, 'refresh', 'revoke'),
      bash(`echo x >> ${file}`),
      bash(`cd ${path.dirname(file)} && printf y > handoff-main-auth-refresh.md`),
      bash(`sed -i s/refresh/revoke/ '${file}'`),
      bash(`rm ${file}`),
    ];
    const asPrinted = bash('{{last:(git handoff [^\\n]*)}}');
    const b = await runClaude(world, { turns: [read(file), ...attempts, asPrinted, say('done')] });
    expectHealthy(b);
    const [seen, ...refusals] = b.conversation.toolResults();
    const advice = refusals.pop();
    expect(seen).toMatchObject({ tool: 'Read', failed: false });
    expect(advice, advice?.output).toMatchObject({ tool: 'Bash', failed: false });
    expect(refusals).toHaveLength(attempts.length);
    for (const { tool, input, failed, output } of refusals) {
      expect({ tool, input, failed }, output + world.guardLog()).toEqual({ tool, input, failed: true });
      expect(output).toContain(short(a.session));
      expect(output).toContain('git handoff');
    }
    expect(contentOf(file)).toBe(before);
  });

  it('stays open to its owner, and to everybody for reading', async () => {
    const world = await createInstalledWorld();
    const file = ownFile(world);
    mkdirSync(path.dirname(file), { recursive: true });
    const owner = await runClaude(world, {
      turns: [
        write(file, 'goal: refresh tokens\n'),
        edit(file, 'refresh', 'rotate'),
        bash(`echo next: tests >> ${file}`),
        say('done'),
      ],
    });
    expectHealthy(owner);
    expect(owner.conversation.toolResults().filter(({ failed }) => failed)).toEqual([]);
    expect(contentOf(file)).toBe(`${marker(owner.session)}\ngoal: rotate tokens\nnext: tests\n`);

    const reader = await runClaude(world, { turns: [bash(`cat ${file}`), say('done')] });
    expectHealthy(reader);
    expect(reader.conversation.toolResults()[0]?.output).toContain('goal: rotate tokens');
  });
});
