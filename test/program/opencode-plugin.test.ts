import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installerOf } from '../../src/install/choose-clients.ts';

/** Our plugin for OpenCode as `init` installs it, called as OpenCode calls it. A script stands in for the guard. */

const ROOT = join(import.meta.dirname, '../..');
const PLUGIN = 'plugins/opencode/index.js';
const GUARD = `#!/bin/sh
folder=$(dirname "$0")
{ cat; echo; } >>"$folder/asked"
cat "$folder/answer" 2>/dev/null
`;

type Hook = (input: object, output: object) => Promise<void>;

let root: string;
let launcher: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "git-handoff 'ö' "));
  launcher = join(root, 'bin', 'git-handoff');
  mkdirSync(join(root, 'bin'));
  writeFileSync(launcher, GUARD, { mode: 0o755 });
  cpSync(join(ROOT, PLUGIN), join(root, PLUGIN));
});
afterEach(() => rmSync(root, { recursive: true }));

const installed = () => installerOf('opencode').register('', 'user', launcher);
const answer = (text: string) => writeFileSync(join(root, 'bin', 'answer'), text);
const asked = () => {
  const file = join(root, 'bin', 'asked');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as object);
};

/** The hooks of the plugin. The session `sub` is a sub-agent's. */
async function loaded(): Promise<Record<string, Hook>> {
  const file = join(root, 'plugin.mjs');
  writeFileSync(file, installed(), 'latin1');
  const { GitHandoff } = (await import(pathToFileURL(file).href)) as {
    GitHandoff: (place: object) => Promise<Record<string, Hook>>;
  };
  const get = ({ path: { id } }: { path: { id: string } }) =>
    Promise.resolve({ data: { parentID: id === 'sub' ? 'main' : undefined } });
  return GitHandoff({ client: { session: { get } }, directory: root });
}

describe('the file', () => {
  it('is the packed one, except for the command', () => {
    const packed = readFileSync(join(ROOT, PLUGIN), 'latin1');
    expect(installerOf('opencode').register('', 'project', launcher)).toBe(packed);
    const lines = installed().split('\n');
    const others = packed.split('\n').filter((line, at) => line !== lines[at]);
    expect(others).toEqual([expect.stringMatching(/^const COMMAND = /)]);
  });

  it('is rewritten unchanged, and removed entirely', () => {
    expect(installerOf('opencode').register(installed(), 'user', launcher)).toBe(installed());
    expect(installerOf('opencode').unregister(installed())).toBe('');
    expect(() => installerOf('opencode').register('export {};', 'user', launcher)).toThrow('it is not ours');
    expect(installerOf('opencode').unregister('export {};')).toBe('export {};');
  });

  it('tells doctor which events it handles', () => {
    const { hooks } = JSON.parse(installerOf('opencode').settingsIn?.(installed()) ?? '') as {
      hooks: object;
    };
    expect(Object.keys(hooks)).toEqual(installerOf('opencode').events);
  });
});

describe('the plugin', () => {
  const call = { tool: 'bash', sessionID: 'main', callID: '1', args: { command: 'ls' } };

  it('throws if the guard refuses, and only then', async () => {
    const hooks = await loaded();
    const before = () => hooks['tool.execute.before']?.(call, { args: call.args });
    await before();
    answer('{"deny":"no"}');
    await expect(before()).rejects.toThrow('no');
    answer('not JSON');
    await before();
    rmSync(launcher);
    await before();
    expect(asked()[0]).toEqual({
      ...{ hook_event_name: 'tool.execute.before', session_id: 'main', cwd: root },
      ...{ tool_name: 'bash', tool_use_id: '1', tool_input: { command: 'ls' } },
    });
  });

  it('calls the guard for a sub-agent in the name of its session, and not for tools that only read', async () => {
    const hooks = await loaded();
    await hooks['tool.execute.before']?.({ ...call, sessionID: 'sub' }, { args: call.args });
    await hooks['tool.execute.before']?.({ ...call, tool: 'grep' }, { args: {} });
    expect(asked()).toMatchObject([{ session_id: 'main', agent_id: 'sub' }]);
    const env = {};
    await hooks['shell.env']?.({ sessionID: 'sub' }, { env });
    expect(env).toEqual({ GIT_HANDOFF_SESSION: 'main' });
  });

  it('adds the guard’s texts to the prompt and the result', async () => {
    const hooks = await loaded();
    answer('{"tell":"hello"}');
    await hooks['chat.message']?.({ sessionID: 'main' }, {});
    const system: string[] = [];
    await hooks['experimental.chat.system.transform']?.({ sessionID: 'main' }, { system });
    expect(system).toEqual(['hello']);
    const result = { output: 'done', metadata: { exit: 3 } };
    await hooks['tool.execute.after']?.(call, result);
    expect(result.output).toBe('done\n\nhello');
    expect(asked()).toMatchObject([
      { hook_event_name: 'chat.message' },
      { tool_response: { exit: 3 }, tool_output: 'done' },
    ]);
  });
});
