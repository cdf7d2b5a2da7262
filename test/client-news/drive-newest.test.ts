import type { AssertionError } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it, onTestFinished } from 'vitest';
import { settingsFile } from '../../src/install/client.ts';
import { INSTALLERS } from '../../src/install/clients.ts';
import { task } from '../support/client/copilot.ts';
import {
  CLAUDE_HANDS,
  CODEX_HANDS,
  COPILOT_HANDS,
  GEMINI_HANDS,
  type Hands,
  OPENCODE_HANDS,
  QWEN_HANDS,
} from '../support/client/hands.ts';
import {
  CACHE,
  CLAUDE_CODE,
  type ClientPackage,
  CODEX,
  COPILOT_CLI,
  GEMINI_CLI,
  installVersion,
  OPENCODE,
  QWEN_CODE,
} from '../support/client/install.ts';
import { REPOSITORY } from '../support/client/paths.ts';
import { createWorld, type World } from '../support/client/world.ts';
import { createGates } from '../support/model/gates.ts';
import { call, say, type Turn } from '../support/model/script.ts';

/** A hook that writes each payload into a new file beside itself, and renames the file when it is complete. */
const PROBE = '#!/bin/sh\nf=$(mktemp "${0%/*}/XXXXXXXX") && cat >"$f" && mv "$f" "$f.json"\n';

/** The sub-agent's prompt. */
const ASKED = 'SUB-AGENT: look around';
const AGENT = {
  description: 'test',
  prompt: ASKED,
  subagent_type: 'general-purpose',
  run_in_background: false,
};

/** The input of the tool with which Codex's model searches for further tools. */
const SEARCH = {
  query: 'spawn agent wait send message file edit command memory goal image browser plan',
  limit: 100,
};

/** Returns the names of tools in an installed client's package. Throws if it finds none. */
function toolsIn({ name, package: of, tools }: ClientPackage): string[] {
  if (tools === undefined) return [];
  const folder = path.join(CACHE, name, 'node_modules', of);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    tools.files.test(file),
  );
  const texts = files
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .map((text) => (tools.within === undefined ? text : (tools.within.exec(text)?.[0] ?? '')));
  const found = texts.flatMap((text) => [...text.matchAll(tools.names)].flatMap(([, tool = '']) => tool));
  if (found.length === 0) throw new Error(`no names of tools in ${of}, ${String(tools.files)}`);
  return found;
}

/** Gives Codex a model that calls its tools by writing programs (code mode). */
function useCodeMode({ home }: World): void {
  const file = path.join(home, '.codex', 'config.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('gpt-5.5', 'gpt-6-sol'));
}

interface Driven {
  readonly package: ClientPackage;
  readonly hands: Hands;
  readonly agent?: Turn;
  readonly search?: Turn;
  /** Makes the client offer other tools in another run. */
  readonly otherwise?: (world: World) => void;
  /** A tool that the client only lists until the model searches for it. If undefined, the test does not read that list. */
  readonly listed?: string;
}

const CLIENTS: readonly Driven[] = [
  { package: CLAUDE_CODE, hands: CLAUDE_HANDS, agent: call('Agent', AGENT), listed: 'Monitor' },
  {
    package: CODEX,
    hands: CODEX_HANDS,
    search: call('tool_search', SEARCH),
    listed: 'spawn_agent',
    otherwise: useCodeMode,
  },
  { package: GEMINI_CLI, hands: GEMINI_HANDS },
  { package: QWEN_CODE, hands: QWEN_HANDS, listed: 'monitor' },
  { package: OPENCODE, hands: OPENCODE_HANDS },
  { package: COPILOT_CLI, hands: COPILOT_HANDS, agent: task(ASKED) },
];

/** The folder of reports for scripts/client-news.mjs. It already has a file for each client that the test should drive. */
const REPORTS = process.env['GIT_HANDOFF_NEWS'] ?? '';

/** Puts the probe where `git handoff init` puts our launcher. */
function registerProbe(world: World, client: string): string {
  const folder = path.join(world.root, 'git-handoff');
  const probe = path.join(folder, 'probe');
  mkdirSync(folder);
  writeFileSync(probe, PROBE, { mode: 0o755 });
  cpSync(path.join(REPOSITORY, 'plugins'), path.join(world.root, 'plugins'), { recursive: true });
  const { home, repository } = world;
  const installer = INSTALLERS.find((row) => row.client === client);
  const places = { home, env: {}, cwd: repository, topLevel: repository };
  const file = (installer && settingsFile(installer, 'user', places)) ?? '';
  mkdirSync(path.dirname(file), { recursive: true });
  const before = existsSync(file) ? readFileSync(file, 'latin1') : '';
  writeFileSync(file, installer?.register(before, 'user', probe) ?? '', 'latin1');
  return folder;
}

function payloadsIn(folder: string): unknown[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as unknown);
}

async function drive(
  { hands, agent, search, otherwise }: Driven,
  world: World,
  folder: string,
  hears: (tools: readonly string[]) => void,
): Promise<void> {
  const turns = [
    ...(search === undefined ? [] : [search]),
    ...hands.create(world, 'b.txt', 'b'),
    ...hands.change(world, 'a.txt', { from: 'hello', to: 'goodbye' }, {}),
    hands.shell('echo more >> b.txt'),
    hands.shell('exit 3'),
    ...(agent === undefined ? [] : [agent]),
    say('done'),
  ];
  const agents = [{ match: ASKED, turns: [hands.shell('echo hello'), say('looked')] }];
  await hands.trust(world);
  await hands.run(world, { turns, agents, hears }, createGates());
  if (otherwise !== undefined) {
    otherwise(world);
    await hands.run(world, { turns: [say('done')], hears }, createGates());
  }
  if (payloadsIn(folder).length === 0) throw new Error('it called no hook');
}

it.each(CLIENTS)('$package.name', async (client) => {
  const report = path.join(REPORTS, `${client.package.name}.json`);
  if (!existsSync(report)) return;
  const found: { version?: string; payloads?: unknown[]; tools?: string[]; problem?: string } = {};
  const tools = new Set<string>();
  const world = await createWorld();
  onTestFinished(() => world.remove());
  let folder: string | undefined;
  try {
    const asked = ['view', '--loglevel=error', client.package.package, 'version'];
    found.version = execFileSync('npm', asked, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
    installVersion(client.package, found.version);
    toolsIn(client.package).forEach((name) => tools.add(name));
    client.hands.prepare(world);
    folder = registerProbe(world, client.package.name);
    await drive(client, world, folder, (names) => names.forEach((name) => tools.add(name)));
    if (client.listed !== undefined && !tools.has(client.listed))
      throw new Error(`its list of tools is not read: ${client.listed} is not among them`);
  } catch (error) {
    const { message = String(error), actual } = error as Partial<AssertionError>;
    found.problem = actual === undefined ? message : `${message}: ${JSON.stringify(actual)}`;
  }
  found.tools = [...tools].sort();
  if (folder !== undefined) found.payloads = payloadsIn(folder);
  writeFileSync(report, JSON.stringify(found));
});
