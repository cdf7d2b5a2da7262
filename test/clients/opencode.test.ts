import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { short } from '../support/client/expectations.ts';
import {
  opencodeAgent,
  opencodeEdit,
  opencodeRead,
  opencodeShell,
  opencodeWrite,
  OPENCODE_ID,
  prepareOpencode,
  runOpencode,
} from '../support/client/opencode.ts';
import { expectWell, outputs, recordIn } from '../support/client/run.ts';
import { historyOf } from '../support/client/sharing.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { say } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const writeNote = (text: string): string => `printf '${text}\\n' | git handoff write ${TOPIC}`;

/** A world where somebody uses OpenCode and has typed `git handoff init --client opencode`. */
async function opencodeWorld(): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  prepareOpencode(world);
  await world.output('git handoff init --yes --client opencode');
  return world;
}

describe('an OpenCode session', () => {
  it('is recorded from its first call, continues under its id when resumed, and owns its sub-agents’ work', async () => {
    const world = await opencodeWorld();
    const first = await runOpencode(world, {
      turns: [opencodeShell(`${writeNote('note')} && echo $GIT_HANDOFF_SESSION`), say('done')],
    });
    expectWell(first, OPENCODE_ID);
    expect(outputs(first)[0]).toContain(first.session);
    const script = {
      turns: [
        opencodeAgent('SUB-AGENT: write b.txt'),
        opencodeShell(writeNote('second note')),
        opencodeShell('git add -A && git commit --quiet --message=work'),
        say('done'),
      ],
      agents: [
        {
          match: 'SUB-AGENT',
          turns: [
            opencodeWrite(path.join(world.repository, 'b.txt'), 'b\n'),
            opencodeShell('echo I am $GIT_HANDOFF_SESSION'),
            say('written'),
          ],
        },
      ],
    };
    const second = await runOpencode(world, script, { resume: first.session });
    expectWell(second, OPENCODE_ID);
    expect(second.session).toBe(first.session);
    expect(outputs(second).join('\n'), world.guardLog()).toContain(`I am ${first.session}`);
    expect(outputs(second).join('\n')).not.toMatch(/refused|hint:/);
    expect(await historyOf(world)).toMatchObject([{ paths: ['b.txt'], sessions: [first.session] }]);
    const records = await world.output('git handoff sessions --all --json');
    // OpenCode reports no end of a session, only its deletion.
    expect(recordIn(records, first.session)).toMatchObject({ client: 'opencode', liveness: 'dead' });
  });

  it('may not change a file that another session has changed, not even through its sub-agent', async () => {
    const world = await opencodeWorld();
    const gates = createGates();
    const file = path.join(world.repository, 'a.txt');
    const a = runOpencode(
      world,
      {
        turns: [
          opencodeRead(file),
          opencodeEdit(file, 'hello', 'hello of A'),
          say('done', { opens: 'A has written', waitsFor: 'B is over' }),
        ],
      },
      { gates },
    );
    expect(await gates.wait('A has written')).toBe(true);
    const attempt = `echo gone > ${file}`;
    const b = await runOpencode(world, {
      turns: [opencodeShell(attempt), opencodeAgent('SUB-AGENT: clobber'), say('done')],
      agents: [{ match: 'SUB-AGENT', turns: [opencodeShell(attempt), say('tried')] }],
    });
    gates.open('B is over');
    expectWell(await a, OPENCODE_ID);
    expectWell(b, OPENCODE_ID);
    const refusals = outputs(b).filter((text) => text.includes('will be told. Work on something else'));
    expect(refusals.length, world.guardLog()).toBe(2);
    for (const text of refusals) expect(text).toContain(short((await a).session));
    expect(readFileSync(file, 'utf8')).toBe('hello of A\n');
  });
});

describe('the plugin for OpenCode', () => {
  it('is not noticed in a day of work, not even without the program, and is removed by uninstall', async () => {
    const world = await opencodeWorld();
    const plugin = path.join(world.home, '.config', 'opencode', 'plugin');
    expect(existsSync(plugin)).toBe(true);
    const file = path.join(world.repository, 'a.txt');
    const work = (from: string, to: string) => ({
      turns: [
        opencodeWrite(path.join(world.repository, 'b.txt'), `${to}\n`),
        opencodeRead(file),
        opencodeEdit(file, from, to),
        opencodeShell('sed -i s/b/c/ b.txt && git status --short'),
        say('done'),
      ],
    });
    const run = await runOpencode(world, work('hello', 'goodbye'));
    expectWell(run, OPENCODE_ID);
    expect(outputs(run).join('\n')).not.toMatch(/git handoff|Error/);
    expect(readFileSync(file, 'utf8')).toBe('goodbye\n');

    const installed = readFileSync(path.join(plugin, 'git-handoff.js'), 'utf8');
    await world.output(`sed -i 's/ guard --client / nonsense /' ${plugin}/git-handoff.js`);
    const unguarded = await runOpencode(world, work('goodbye', 'hello again'));
    expectWell(unguarded, OPENCODE_ID);
    expect(outputs(unguarded).join('\n')).not.toMatch(/git handoff|Error/);
    await world.output(`git handoff init --yes --client opencode`);
    expect(readFileSync(path.join(plugin, 'git-handoff.js'), 'utf8')).toBe(installed);

    await world.output('git handoff uninstall --yes');
    expect(existsSync(plugin)).toBe(false);
  });
});
