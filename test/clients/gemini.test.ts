import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { short } from '../support/client/expectations.ts';
import { prepareGemini, replace, runGemini, shell, writeFile } from '../support/client/gemini.ts';
import { beginning, expectWell, outputs, recordIn } from '../support/client/run.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const REF = `refs/handoffs/${TOPIC}`;
const writeNote = (text: string): string => `printf '${text}\\n' | git handoff write ${TOPIC}`;

/** A world where somebody uses Gemini CLI and has typed `git handoff init --client gemini`. */
async function geminiWorld(): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  prepareGemini(world);
  await world.output('git handoff init --yes --client gemini');
  return world;
}

/** A handoff file in the working tree, which Gemini CLI's file tools cannot leave. */
function handoffFile({ repository }: World, topic: string): string {
  const folder = path.join(repository, 'projects', 'here', 'memory');
  mkdirSync(folder, { recursive: true });
  return path.join(folder, `handoff-main-${topic}.md`);
}

describe('Gemini CLI sessions and their notes', () => {
  it('hear of each other, own what they write, and are refused what another session owns', async () => {
    const world = await geminiWorld();
    const gates = createGates();
    const turns = [
      // Gemini CLI's shell names no session and hides the committer, so the ancestor process identifies the session.
      shell(`git config user.email; env | grep SESSION_ID; ${writeNote('note of A')}`),
      say('done', { opens: 'A has written', waitsFor: 'B is over' }),
    ];
    const running = runGemini(world, { turns }, { gates });
    expect(await gates.wait('A has written')).toBe(true);
    const b = await runGemini(world, {
      turns: [
        shell(writeNote('note of B')),
        shell('{{last:hint: (git handoff show[^\\n]*)}}'),
        shell(`git handoff take ${TOPIC}`),
        shell('git handoff sessions --json'),
        say('done'),
      ],
    });
    gates.open('B is over');
    const a = await running;
    expectWell(a);
    expectWell(b);

    expect(outputs(a)[0]).not.toMatch(/dev@example|SESSION_ID/);
    expect(beginning(a)).not.toContain('auth-refresh');
    expect(beginning(b)).toContain('auth-refresh');
    expect(beginning(b)).toContain(short(a.session));
    const [refused, beside, taken, listed] = outputs(b);
    expect(refused).toContain('Exit Code: 3');
    expect(refused).toContain(short(a.session));
    expect(beside).not.toContain('Exit Code');
    expect(taken).toContain('only the user may take it over now');
    expect(listed).toContain(a.session);
    const trailer = (key: string): string => `%(trailers:key=${key},valueonly,separator=%x2C)`;
    const format = `${trailer('Claude-Session-Id')} ${trailer('Handoff-Client')}`;
    const owners = (ref: string) => world.output(`git log --format='${format}' ${ref}`);
    expect(await owners(REF)).toBe(`${a.session} gemini`);
    expect(await owners(`${REF}-cont`)).toBe(`${b.session} gemini`);
    const records = await world.output('git handoff sessions --all --json');
    for (const { session } of [a, b]) {
      expect(recordIn(records, session), world.guardLog()).toMatchObject({
        client: 'gemini',
        liveness: 'ended',
      });
    }
  });
});

describe('handoff files in Gemini CLI', () => {
  it('of another session cannot be changed by the client’s tools, and the model hears why', async () => {
    const world = await geminiWorld();
    const file = handoffFile(world, 'auth-refresh');
    const owner = 'sess-bbbbbbbb-2222';
    const content = `<!-- claude-session: ${owner} -->\nsecret token\n`;
    writeFileSync(file, content);
    const attempts = [
      writeFile(file, 'gone\n'),
      replace(file, 'secret', 'gone'),
      shell(`echo gone >> ${file}`),
      shell(`cd ${path.dirname(file)} && rm handoff-main-auth-refresh.md`),
    ];
    const run = await runGemini(world, { turns: [...attempts, shell(`cat ${file}`), say('done')] });
    expectWell(run);
    const results = outputs(run);
    const seen = results.pop();
    expect(seen).toContain('secret token');
    expect(results).toHaveLength(attempts.length);
    for (const result of results) {
      expect(result, world.guardLog()).toContain('Tool execution blocked');
      expect(result).toContain(short(owner));
    }
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('without a marker get one, and stay open to their owner', async () => {
    const world = await geminiWorld();
    const file = handoffFile(world, 'new-topic');
    const made = handoffFile(world, 'other-work');
    const run = await runGemini(world, {
      turns: [
        writeFile(file, 'goal\n'),
        replace(file, 'goal', 'goal: done'),
        shell(`echo more >> ${file}`),
        replace(made, '', 'made\n'),
        say('done'),
      ],
    });
    expectWell(run);
    const marker = `<!-- claude-session: ${run.session} -->\n`;
    for (const result of outputs(run)) expect(result, world.guardLog()).not.toContain('blocked');
    expect(readFileSync(file, 'utf8')).toBe(`${marker}goal: done\nmore\n`);
    expect(readFileSync(made, 'utf8')).toBe(`${marker}made\n`);
  });
});

describe('hooks in Gemini CLI', () => {
  it('leave the person’s settings alone, are not noticed in a day of work, and are removed by uninstall', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareGemini(world);
    const settings = path.join(world.home, '.gemini', 'settings.json');
    const before = readFileSync(settings, 'utf8');
    await world.output('git handoff init --yes --client gemini');
    const parsed = (text: string) => JSON.parse(text.replace('// Mine.', '')) as Record<string, unknown>;
    const { hooks, ...others } = parsed(readFileSync(settings, 'utf8'));
    expect(hooks).toBeDefined();
    expect(others).toEqual(parsed(before));

    const script = {
      turns: [
        writeFile(path.join(world.repository, 'b.txt'), 'b\n'),
        replace('a.txt', 'hello', 'goodbye'),
        shell('sed -i s/b/c/ b.txt && git status --short'),
        say('done'),
      ],
    };
    const run = await runGemini(world, script);
    expectWell(run);
    expect(outputs(run).join('\n')).not.toContain('blocked');
    expect(run.stdout + run.stderr).toContain('stopped with 2 uncommitted files and no note');
    expect(readFileSync(path.join(world.repository, 'a.txt'), 'utf8')).toBe('goodbye\n');
    expect(readFileSync(path.join(world.repository, 'b.txt'), 'utf8')).toBe('c\n');
    expect(recordIn(await world.output('git handoff sessions --all --json'), run.session)).toMatchObject({
      client: 'gemini',
    });

    await world.output('git handoff uninstall --yes');
    expect(readFileSync(settings, 'utf8')).toBe(before);
  });
});
