import { describe, expect, it } from 'vitest';
import { runClaude } from '../support/client/claude.ts';
import { expectHealthy, short } from '../support/client/expectations.ts';
import { bash } from '../support/client/tools.ts';
import { createInstalledWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say, type Turn } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const REF = `refs/handoffs/${TOPIC}`;

function writeNote(text: string, gates: Partial<Turn> = {}): Turn {
  return bash(`printf '${text}\\n' | git handoff write ${TOPIC}`, gates);
}

/** Owner and former owner of every version, oldest first, as git itself reads them. */
async function chain(world: World, ref: string): Promise<string[][]> {
  const trailer = (key: string): string => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const format = `${trailer('Claude-Session-Id')} ${trailer('Handoff-Taken-From')}`;
  const lines = await world.output(`git log --reverse --format='${format}' ${ref}`);
  return lines.split('\n').map((line) => line.trim().split(' '));
}

/** The texts that a session could not write, newest or oldest first. */
async function lostTexts(world: World, session: string): Promise<string[]> {
  const list = await world.output(`git handoff show --lost ${TOPIC}`);
  const mine = list.split('\n').filter((line) => line.includes(short(session)));
  return Promise.all(
    mine.map((line) => world.output(`git handoff show --lost=${line.trim().split(/\s+/)[0]} ${TOPIC}`)),
  );
}

/** A and B are alive at once and reach for one topic; the gates fix the order of their turns. */
async function contest(world: World) {
  const gates = createGates();
  const a = runClaude(
    world,
    {
      turns: [
        writeNote('note of A', { opens: 'A is there', waitsFor: 'B is there' }),
        writeNote('second note of A', { opens: 'A has written', waitsFor: 'B has tried' }),
        say('done', { opens: 'A has written again' }),
      ],
    },
    { gates },
  );
  const b = runClaude(
    world,
    {
      turns: [
        writeNote('note of B', { opens: 'B is there', waitsFor: 'A has written' }),
        bash('{{last:hint: (git handoff show[^\\n]*)}}'),
        bash(`git handoff take ${TOPIC}`),
        say('done', { opens: 'B has tried', waitsFor: 'A has written again' }),
      ],
    },
    { gates },
  );
  return Promise.all([a, b]);
}

describe('two Claude Code sessions and one topic', () => {
  it('keep every word of both, and the session that does not own the topic leaves its own note beside it', async () => {
    const world = await createInstalledWorld();
    const [a, b] = await contest(world);
    expectHealthy(a);
    expectHealthy(b);
    expect(a.session).not.toBe(b.session);

    const [firstOfA, secondOfA] = a.conversation.toolResults();
    const [refusal, beside, take] = b.conversation.toolResults();
    expect(firstOfA).toMatchObject({ failed: false });
    expect(refusal).toMatchObject({ failed: true });
    expect(refusal?.output).toMatch(/^Exit code 3\n/);
    expect(refusal?.output).toContain(`${short(a.session)}, which is at work`);
    expect(beside, beside?.output).toMatchObject({ failed: false });
    expect(take).toMatchObject({ failed: true });
    expect(take?.output).toContain('only the user may take it over now');
    expect(secondOfA, secondOfA?.output).toMatchObject({ failed: false });

    expect(await chain(world, REF)).toEqual([[a.session], [a.session]]);
    expect(await chain(world, `${REF}-cont`)).toEqual([[b.session]]);
    expect(await world.output(`git handoff show --raw ${TOPIC}`)).toBe('second note of A');
    expect(await world.output(`git handoff show --raw ${TOPIC}-cont`)).toBe('note of B');
    expect(await lostTexts(world, b.session)).toEqual(['note of B']);
  });

  it('leave no trace in the working tree, and no bookkeeping in `git log --all`', async () => {
    const world = await createInstalledWorld();
    await contest(world);
    expect(await world.output('git status --porcelain')).toBe('');
    expect(await world.output('git log --all --decorate')).not.toContain('handoffs-local');
    const commits = async (what: string): Promise<string[]> =>
      (await world.output(`git rev-list ${what}`)).split('\n').sort();
    expect(await commits('--all')).toEqual(await commits(`main ${REF} ${REF}-cont`));
    expect(await world.output("find .git -name '*.lock'")).toBe('');
  });
});
