import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { bash, write } from '../support/client/tools.ts';
import { createInstalledWorld } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { call, say, type Turn } from '../support/model/script.ts';

/** Types the command at the end of the last answer. */
const typeWhatItSays = (before: string, gates: Partial<Turn> = {}) =>
  bash(`{{last:${before}: (git [^\\n]*)}}`, gates);

describe('a real session B beside a live session A', () => {
  it("cannot wipe A's uncommitted work, but can undo its own, and bring that back", async () => {
    const world = await createInstalledWorld();
    const { repository } = world;
    const gates = createGates();
    const file = (name: string) => path.join(repository, name);
    const wipes = ['git reset --hard', 'git checkout -- .', 'git clean -fd'];
    const [a, b] = await Promise.all([
      runClaude(
        world,
        {
          turns: [
            write(file('new.txt'), "A's, untracked\n"),
            bash(`echo "A's" > a.txt`),
            say('done', { opens: 'A has written', waitsFor: 'B is over' }),
          ],
        },
        { gates },
      ),
      runClaude(
        world,
        {
          turns: [
            write(file('mine.txt'), "B's\n", { waitsFor: 'A has written' }),
            ...wipes.map((command) => bash(command)),
            bash('git clean -f mine.txt'),
            bash('git handoff rescue restore -- mine.txt'),
            say('done', { opens: 'B is over' }),
          ],
        },
        { gates },
      ),
    ]);
    expectHealthy(a);
    expectHealthy(b);
    const answers = b.conversation.toolResults().map(({ output }) => output);
    expect(answers[1], world.guardLog()).toContain(`${short(a.session)}: a.txt`);
    expect(answers[2]).toContain(`${short(a.session)}: a.txt`);
    expect(answers[3]).toContain(`${short(a.session)}: new.txt`);
    const now = ['a.txt', 'new.txt', 'mine.txt'].map((name) => readFileSync(file(name), 'utf8'));
    expect(now, JSON.stringify(answers.slice(4))).toEqual(["A's\n", "A's, untracked\n", "B's\n"]);
  });

  it('cannot leave its worktree and have it removed while A works there', async () => {
    const world = await createInstalledWorld();
    const gates = createGates();
    const file = path.join(world.repository, '.claude/worktrees/wt/new.txt');
    const [a, b] = await Promise.all([
      runClaude(
        world,
        {
          turns: [
            write(file, "A's\n", { waitsFor: 'B is in' }),
            say('done', { opens: 'A has written', waitsFor: 'B is over' }),
          ],
        },
        { gates },
      ),
      runClaude(
        world,
        {
          turns: [
            call('ToolSearch', { query: 'select:EnterWorktree,ExitWorktree' }),
            call('EnterWorktree', { name: 'wt' }),
            call(
              'ExitWorktree',
              { action: 'remove', discard_changes: true },
              { opens: 'B is in', waitsFor: 'A has written' },
            ),
            say('done', { opens: 'B is over' }),
          ],
        },
        { gates },
      ),
    ]);
    expectHealthy(a);
    expectHealthy(b);
    expect(b.conversation.toolResults()[2]?.output, world.guardLog()).toContain(short(a.session));
    expect(readFileSync(file, 'utf8')).toBe("A's\n");
  });

  it("cannot pop A's stash in another worktree, but can apply its own by the name that it is told", async () => {
    const world = await createInstalledWorld();
    const second = path.join(world.root, 'second');
    await world.output('echo two > b.txt && git add b.txt && git commit -qm two');
    await world.output(`git worktree add -q ${second}`);
    const gates = createGates();
    const [a, b] = await Promise.all([
      runClaude(
        world,
        {
          turns: [
            bash(`echo "A's" > a.txt && git stash push -m a-entry`, { waitsFor: 'B has stashed' }),
            say('done', { opens: 'A has stashed', waitsFor: 'B is over' }),
          ],
        },
        { gates },
      ),
      runClaude(
        { ...world, repository: second },
        {
          turns: [
            bash(`echo "B's" > b.txt && git stash push -m b-entry`),
            bash('git stash pop', { opens: 'B has stashed', waitsFor: 'A has stashed' }),
            typeWhatItSays('newest entry'),
            say('done', { opens: 'B is over' }),
          ],
        },
        { gates },
      ),
    ]);
    expectHealthy(a);
    expectHealthy(b);
    const [, refused, applied] = b.conversation.toolResults().map(({ output }) => output);
    expect(refused, world.guardLog()).toContain(`${short(a.session)} made`);
    expect(refused).toContain('a-entry');
    expect(readFileSync(path.join(second, 'b.txt'), 'utf8'), applied).toBe("B's\n");
    expect(readFileSync(path.join(second, 'a.txt'), 'utf8')).toBe('hello\n');
    const list = await world.output('git stash list');
    expect(list).toContain('a-entry');
    expect(list).toContain('b-entry');
  });
});
