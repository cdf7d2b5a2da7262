import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { exec, prepareCodex, runCodex, trustCodexHooks } from '../support/client/codex.ts';
import { expectHealthy } from '../support/client/expectations.ts';
import { expectWell, outputs } from '../support/client/run.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld, createWorld } from '../support/client/world.ts';
import { say } from '../support/model/script.ts';

const NOTE = 'main/auth-refresh';

it('Claude Code is reminded in time, and sends its note with its work, which Codex commits in another clone', async () => {
  const desk = await createInstalledWorld();
  const server = path.join(desk.root, 'server.git');
  await desk.output(`git clone --quiet --bare . '${server}' && git remote add origin '${server}'`);
  await desk.output('git config handoff.contextWindow 200000');
  const claude = await runClaude(desk, {
    turns: [
      write(path.join(desk.repository, 'new.txt'), 'new\n'),
      bash("printf 'hello\\nstaged\\n' > a.txt && git add a.txt && chmod +x a.txt", { read: 180_000 }),
      say('thinking', { read: 181_000 }),
      bash(`printf 'goal: refresh tokens\\n' | git handoff write ${NOTE} --with-work`, { read: 182_000 }),
      bash(`git handoff sync --push --with-work ${NOTE}`, { read: 183_000 }),
      say('done', { read: 184_000 }),
    ],
  });
  expectHealthy(claude);
  expect(claude.conversation.userTexts().flat().join('\n')).toContain('write the note now');
  const changes = await desk.output('git status --porcelain');

  const sofa = await createWorld();
  onTestFinished(() => sofa.remove());
  rmSync(sofa.repository, { recursive: true });
  await desk.output(`git clone --quiet --no-local '${server}' '${sofa.repository}'`);
  prepareCodex(sofa);
  await sofa.output('git handoff init --yes --client codex');
  await trustCodexHooks(sofa);
  const codex = await runCodex(sofa, {
    turns: [
      exec('git handoff sync --fetch'),
      exec(`git handoff boot ${NOTE}`),
      exec(`git handoff unpack ${NOTE} && git status --porcelain`),
      exec("git handoff commit -m 'carry on'"),
      say('done'),
    ],
  });
  expectWell(codex);
  const [, booted, unpacked] = outputs(codex);
  expect(booted).toContain('Uncommitted work: 2 paths');
  expect(unpacked).toContain(changes);
  expect(await sofa.output('git status --porcelain')).toBe('');
  const tree = await desk.output('git add -A && git write-tree');
  expect(await sofa.output('git rev-parse HEAD^{tree}')).toBe(tree);
  const sessions = '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)';
  expect(await sofa.output(`git log -1 --format='${sessions}'`)).toBe(codex.session);
});
