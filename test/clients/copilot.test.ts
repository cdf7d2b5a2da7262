import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { applyPatch, bash, prepareCopilot, runCopilot, task } from '../support/client/copilot.ts';
import { short } from '../support/client/expectations.ts';
import { beginning, expectWell, outputs, recordIn } from '../support/client/run.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { call, say } from '../support/model/script.ts';

const TOPIC = 'main/auth-refresh';
const REF = `refs/handoffs/${TOPIC}`;
const writeNote = (text: string): string => `printf '${text}\\n' | git handoff write ${TOPIC}`;

/** A server of the Model Context Protocol with one tool, `write_file {path, content}`. */
const SERVER = `
const answers = {
  initialize: ({ protocolVersion }) =>
    ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'files', version: '1' } }),
  'tools/list': () => {
    const properties = { path: { type: 'string' }, content: { type: 'string' } };
    return { tools: [{ name: 'write_file', description: 'writes', inputSchema: { type: 'object', properties } }] };
  },
  'tools/call': ({ arguments: { path, content } }) => {
    require('node:fs').writeFileSync(path, content);
    return { content: [{ type: 'text', text: 'ok' }] };
  },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
});
`;

/** The arguments that give Copilot CLI a server's tool, `files-write_file`. */
function filesServer({ home }: World): string[] {
  const program = path.join(home, 'files.cjs');
  writeFileSync(program, SERVER);
  const server = { type: 'local', command: process.execPath, args: [program], tools: ['*'] };
  return ['--additional-mcp-config', JSON.stringify({ mcpServers: { files: server } })];
}

/** A world where somebody uses Copilot CLI and has typed `git handoff init --client copilot`. */
async function copilotWorld(options = ''): Promise<World> {
  const world = await createWorld();
  onTestFinished(() => world.remove());
  prepareCopilot(world);
  await world.output(`git handoff init --yes --client copilot ${options}`);
  return world;
}

function handoffFile({ home }: World): string {
  const folder = path.join(home, '.claude', 'projects', 'testproj', 'memory');
  mkdirSync(folder, { recursive: true });
  return path.join(folder, 'handoff-main-auth-refresh.md');
}

async function ownersOf(world: World, ref = REF): Promise<string[]> {
  const trailer = (key: string): string => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const format = `${trailer('Claude-Session-Id')} ${trailer('Handoff-Client')}`;
  return (await world.output(`git log --reverse --format='${format}' ${ref}`)).split('\n');
}

describe('Copilot CLI sessions and their notes', () => {
  it('hear of each other, own what they write, are refused what another session owns, and continue', async () => {
    const world = await copilotWorld();
    const gates = createGates();
    const turns = [
      bash(writeNote('note of A')),
      say('done', { opens: 'A has written', waitsFor: 'B is over' }),
    ];
    const running = runCopilot(world, { turns }, { gates });
    expect(await gates.wait('A has written')).toBe(true);
    const b = await runCopilot(world, {
      turns: [
        bash(writeNote('note of B')),
        bash('{{last:hint: (git handoff show[^\\n]*)}}'),
        bash(`git handoff take ${TOPIC}`),
        bash('git handoff sessions --json'),
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
    expect(refused).toContain('exit code 3');
    expect(refused).toContain(short(a.session));
    expect(beside).toContain('exit code 0');
    expect(taken).toContain('only the user may take it over now');
    expect(listed).toContain(a.session);
    expect(await ownersOf(world)).toEqual([`${a.session} copilot`]);
    expect(await ownersOf(world, `${REF}-cont`)).toEqual([`${b.session} copilot`]);
    const records = await world.output('git handoff sessions --all --json');
    for (const { session } of [a, b]) {
      expect(recordIn(records, session), world.guardLog()).toMatchObject({
        client: 'copilot',
        liveness: 'ended',
      });
    }

    const again = await runCopilot(
      world,
      { turns: [bash(`git handoff take ${TOPIC}`), say('done')] },
      { args: [`--resume=${b.session}`] },
    );
    expectWell(again);
    expect(again.session).toBe(b.session);
    const owners = [`${a.session} copilot`, `${b.session} copilot`];
    expect(await ownersOf(world), outputs(again).join('\n')).toEqual(owners);
  });

  it('share notes with their sub-agents, and own what these change', async () => {
    const world = await copilotWorld();
    const run = await runCopilot(world, {
      turns: [
        bash(writeNote('before')),
        task('FIRST AGENT'),
        bash(`${writeNote('after')} && git handoff sessions --json`),
        applyPatch('*** Update File: deep.txt', '@@', '-deep', '+of the session'),
        bash('git add -A && git commit -qm work && git log -1 --format=%B'),
        say('done'),
      ],
      agents: [
        { match: 'SECOND AGENT', turns: [bash('echo deep > deep.txt'), say('done')] },
        { match: 'FIRST AGENT', turns: [bash(writeNote('within')), task('SECOND AGENT'), say('done')] },
      ],
    });
    expectWell(run);
    const told = outputs(run).join('\n');
    expect(await ownersOf(world), told).toEqual(Array(3).fill(`${run.session} copilot`));
    const [, listed = ''] = /^(\{"schema".*)$/m.exec(told) ?? [];
    expect(JSON.parse(listed)).toMatchObject({
      items: [{ session: run.session, uncommitted: ['deep.txt'] }],
    });
    expect(outputs(run).at(-1)).toContain(`Claude-Session-Id: ${run.session}`);
    expect(await world.output('cat deep.txt && git status --porcelain')).toBe('of the session');
  });
});

describe('handoff files in Copilot CLI', () => {
  it("of another session cannot be changed by the client's tools, a server's or the shell, and the model hears why", async () => {
    const world = await copilotWorld();
    const file = handoffFile(world);
    const owner = 'sess-bbbbbbbb-2222';
    const content = `<!-- claude-session: ${owner} -->\nsecret token\n`;
    writeFileSync(file, content);
    const attempts = [
      applyPatch(`*** Update File: ${file}`, '@@', '-secret token', '+gone'),
      applyPatch('*** Add File: b.txt', '+b', `*** Delete File: ${file}`),
      call('files-write_file', { path: file, content: 'gone\n' }),
      bash(`echo gone >> ${file}`),
      bash(`cd ${path.dirname(file)} && rm handoff-main-auth-refresh.md`),
    ];
    const turns = [...attempts, bash(`cat ${file}`), say('done')];
    const run = await runCopilot(world, { turns }, { args: filesServer(world) });
    expectWell(run);
    const results = outputs(run);
    expect(results.pop()).toContain('secret token');
    expect(results).toHaveLength(attempts.length);
    for (const result of results) {
      expect(result, world.guardLog()).toContain('Denied by preToolUse hook');
      expect(result).toContain(short(owner));
    }
    expect(readFileSync(file, 'utf8')).toBe(content);
    expect(existsSync(path.join(world.repository, 'b.txt'))).toBe(false);
  });
});

describe('hooks in Copilot CLI', () => {
  it('of a project run only in a folder that the person trusts, which init says', async () => {
    const world = await copilotWorld('--project');
    const script = { turns: [bash('git handoff sessions --json'), say('done')] };
    const untrusted = await runCopilot(world, script);
    expect(untrusted.status).toBe(0);
    expect((await world.shell('git handoff sessions --all --json')).stdout).not.toContain(untrusted.session);
    const trusted = await runCopilot(world, script, { args: ['--trust-folder'] });
    expectWell(trusted);
    expect(recordIn(await world.output('git handoff sessions --all --json'), trusted.session)).toMatchObject({
      client: 'copilot',
    });
    const init = await world.shell('git handoff uninstall --yes && git handoff init --yes --client copilot');
    expect(init).toMatchObject({ status: 0, stderr: expect.stringContaining('trust') as string });
  });

  it('are not noticed in a day of lone work, and are removed by uninstall', async () => {
    const world = await createWorld();
    onTestFinished(() => world.remove());
    prepareCopilot(world);
    const settings = path.join(world.home, '.copilot', 'settings.json');
    writeFileSync(settings, '{ "theme" :"dark"}');
    await world.output('git handoff init --yes --client copilot');
    const run = await runCopilot(world, {
      turns: [
        applyPatch('*** Update File: a.txt', '@@', '-hello', '+goodbye', '*** Add File: b.txt', '+b'),
        bash('sed -i s/b/c/ b.txt && git add -A && git commit -qm work && git log -1 --format=%B'),
        bash('exit 7'),
        say('done'),
      ],
    });
    expectWell(run);
    expect(outputs(run).join('\n')).not.toMatch(/git-handoff: |guidance/);
    expect(outputs(run)[1]).toContain(`Claude-Session-Id: ${run.session}`);
    await world.output('git handoff uninstall --yes');
    expect(existsSync(path.join(world.home, '.copilot', 'hooks'))).toBe(false);
    expect(readFileSync(settings, 'utf8')).toBe('{ "theme" :"dark"}');
  });
});
