import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { applyPatch, exec, prepareCodex, runCodex, trustCodexHooks } from '../support/client/codex.ts';
import { short } from '../support/client/expectations.ts';
import { beginning, expectWell, outputs, recordIn } from '../support/client/run.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const REF = `refs/handoffs/${TOPIC}`;
const writeNote = (text: string): string => `printf '${text}\\n' | git handoff write ${TOPIC}`;

const EVENTS = [
  'postToolUse',
  'preCompact',
  'preToolUse',
  'sessionEnd',
  'sessionStart',
  'stop',
  'subagentStart',
];

/** A world where somebody uses Codex and has typed `git handoff init --client codex`. */
async function codexWorld(): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  prepareCodex(world);
  await world.output('git handoff init --yes --client codex');
  return world;
}

async function trustedWorld(): Promise<World> {
  const world = await codexWorld();
  expect(await trustCodexHooks(world)).toEqual(EVENTS);
  return world;
}

function handoffFile({ home }: World, name = 'handoff-main-auth-refresh.md'): string {
  const folder = path.join(home, '.claude', 'projects', 'testproj', 'memory');
  mkdirSync(folder, { recursive: true });
  return path.join(folder, name);
}

describe('Codex sessions and their notes', () => {
  it('hear of each other, own what they write, and are refused what another session owns', async () => {
    const world = await trustedWorld();
    const gates = createGates();
    const turns = [
      exec(writeNote('note of A')),
      say('done', { opens: 'A has written', waitsFor: 'B is over' }),
    ];
    const running = runCodex(world, { turns }, { gates });
    expect(await gates.wait('A has written')).toBe(true);
    const b = await runCodex(world, {
      turns: [
        exec(writeNote('note of B')),
        exec('{{last:hint: (git handoff show[^\\n]*)}}'),
        exec(`git handoff take ${TOPIC}`),
        exec('git handoff sessions --json'),
        say('done'),
      ],
    });
    gates.open('B is over');
    const a = await running;
    expectWell(a);
    expectWell(b);

    expect(beginning(a)).not.toContain('auth-refresh');
    expect(beginning(b)).toContain('auth-refresh');
    expect(beginning(b)).toContain(short(a.session));
    const [refused, beside, taken, listed] = outputs(b);
    expect(refused).toContain('exited with code 3');
    expect(refused).toContain(short(a.session));
    expect(beside).toContain('exited with code 0');
    expect(taken).toContain('only the user may take it over now');
    expect(listed).toContain(a.session);
    const format =
      '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C) %(trailers:key=Handoff-Client,valueonly,separator=%x2C)';
    const owners = (ref: string) => world.output(`git log --format='${format}' ${ref}`);
    expect(await owners(REF)).toBe(`${a.session} codex`);
    expect(await owners(`${REF}-cont`)).toBe(`${b.session} codex`);
    const records = await world.output('git handoff sessions --all --json');
    for (const { session } of [a, b]) {
      expect(recordIn(records, session), world.guardLog()).toMatchObject({
        client: 'codex',
        liveness: 'ended',
      });
    }
  });
});

describe('handoff files in Codex', () => {
  it('of another session cannot be changed by apply_patch or the shell, and the model hears why', async () => {
    const world = await trustedWorld();
    const file = handoffFile(world);
    const owner = 'sess-bbbbbbbb-2222';
    const content = `<!-- claude-session: ${owner} -->\nsecret token\n`;
    writeFileSync(file, content);
    const update = [`*** Update File: ${file}`, '@@', '-secret token', '+gone'];
    const attempts = [
      applyPatch(...update),
      applyPatch('*** Add File: b.txt', '+b', `*** Delete File: ${file}`),
      applyPatch(`*** Add File: ${file}`, '+gone'),
      exec(`echo gone >> ${file}`),
      exec(`apply_patch <<'EOF'\n*** Begin Patch\n${update.join('\n')}\n*** End Patch\nEOF`),
      exec(`cd ${path.dirname(file)} && rm handoff-main-auth-refresh.md`),
    ];
    const run = await runCodex(world, { turns: [...attempts, exec(`cat ${file}`), say('done')] });
    expectWell(run);
    const results = outputs(run);
    const seen = results.pop();
    expect(seen).toContain('secret token');
    expect(results).toHaveLength(attempts.length);
    for (const result of results) {
      expect(result, world.guardLog()).toContain('blocked by PreToolUse hook');
      expect(result).toContain(short(owner));
    }
    expect(readFileSync(file, 'utf8')).toBe(content);
    expect(existsSync(path.join(world.repository, 'b.txt'))).toBe(false);
  });

  it('without a marker are refused with the exact line, and then accepted with it', async () => {
    const world = await trustedWorld();
    const file = handoffFile(world);
    const run = await runCodex(world, {
      turns: [
        applyPatch(`*** Add File: ${file}`, '+goal'),
        applyPatch(`*** Add File: ${file}`, '+{{last:(<!-- claude-session: \\S+ -->)}}', '+goal'),
        applyPatch(`*** Update File: ${file}`, '@@', '-goal', '+goal: done'),
        exec(`echo more >> ${file}`),
        say('done'),
      ],
    });
    expectWell(run);
    const [refused, ...accepted] = outputs(run);
    expect(refused).toContain(`<!-- claude-session: ${run.session} -->`);
    for (const result of accepted) expect(result).not.toContain('blocked');
    expect(readFileSync(file, 'utf8')).toBe(`<!-- claude-session: ${run.session} -->\ngoal: done\nmore\n`);
  });
});

describe('hooks in Codex', () => {
  it('do nothing before they are trusted, which init says, and are gone after uninstall', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareCodex(world);
    const init = await world.shell('git handoff init --yes --client codex');
    expect(init).toMatchObject({ status: 0, stderr: expect.stringContaining('/hooks') as string });
    const script = { turns: [exec('git handoff sessions --json'), say('done')] };
    const untrusted = await runCodex(world, script);
    expect(untrusted.status).toBe(0);
    expect((await world.shell('git handoff sessions --all --json')).stdout).not.toContain(untrusted.session);
    await trustCodexHooks(world);
    const trusted = await runCodex(world, script);
    expectWell(trusted);
    expect(recordIn(await world.output('git handoff sessions --all --json'), trusted.session)).toMatchObject({
      client: 'codex',
    });
    await world.output('git handoff uninstall --yes');
    expect(existsSync(path.join(world.home, '.codex', 'hooks.json'))).toBe(false);
    expect(await trustCodexHooks(world)).toEqual([]);
  });

  it('are not noticed in a day of lone work', async () => {
    const world = await trustedWorld();
    const run = await runCodex(world, {
      turns: [
        applyPatch('*** Update File: a.txt', '@@', '-hello', '+goodbye', '*** Add File: b.txt', '+b'),
        exec('sed -i s/b/c/ b.txt && git add -A && git commit -qm work && git log -1 --format=%B'),
        say('done'),
      ],
    });
    expectWell(run);
    const [patched, committed] = outputs(run);
    expect(patched).toContain('Success');
    expect(committed).toContain(`Claude-Session-Id: ${run.session}`);
    expect(run.stdout).not.toContain('"type":"error"');
  });
});
