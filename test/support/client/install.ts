import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TestRunner } from 'vitest';
import { INSTALLERS } from '../../../src/install/clients.ts';
import { REPOSITORY } from './paths.ts';

/** A client's npm package. The table of clients in src/ names the version to install. */
export interface ClientPackage {
  /** The client's name in that table, and its folder in the cache. */
  readonly name: string;
  readonly package: string;
  readonly bin: string;
  /** The version of a client that has no row in the table of clients. */
  readonly version?: string;
  /** The files of the package that name the client's tools, and in what form. Some sessions are not offered all of them. */
  readonly tools?: { readonly files: RegExp; readonly within?: RegExp; readonly names: RegExp };
  /** The package's own install script. We run it, since npm 12 runs only scripts that a person has approved. */
  readonly installScript?: string;
}

/** Claude Code; its script puts the native program of an optional package in place. */
export const CLAUDE_CODE: ClientPackage = {
  name: 'claude',
  package: '@anthropic-ai/claude-code',
  bin: 'claude',
  installScript: 'install.cjs',
  tools: { files: /^sdk-tools\.d\.ts$/, names: /^ {2}\| (?:File)?(?!Mcp)(\w+)Input$/gm },
};

/** Codex CLI; the native program is an optional package. */
export const CODEX: ClientPackage = {
  name: 'codex',
  package: '@openai/codex',
  bin: 'codex',
};

/** Gemini CLI, plain JavaScript. */
export const GEMINI_CLI: ClientPackage = {
  name: 'gemini',
  package: '@google/gemini-cli',
  bin: 'gemini',
  tools: { files: /^bundle\/[\w-]+\.js$/, names: /\b[A-Z_]+_TOOL_NAME = "(\w+)"/g },
};

/** Copilot CLI; its first start unpacks the native program of an optional package into its home's cache. */
export const COPILOT_CLI: ClientPackage = {
  name: 'copilot',
  package: '@github/copilot',
  bin: 'copilot',
};

/** Qwen Code, plain JavaScript. */
export const QWEN_CODE: ClientPackage = {
  name: 'qwen',
  package: '@qwen-code/qwen-code',
  bin: 'qwen',
  tools: {
    files: /^chunks\/chunk-\w+\.js$/,
    within: /\bvar ToolNames = \{[^}]*\}/,
    names: /\b[A-Z_]+: "(\w+)"/g,
  },
};

/** OpenCode; its script puts the native program of an optional package in place. */
export const OPENCODE: ClientPackage = {
  name: 'opencode',
  package: 'opencode-ai',
  bin: 'opencode',
  installScript: 'postinstall.mjs',
};

/** Grok Build, which runs the hooks of Claude Code. */
export const GROK_BUILD: ClientPackage = {
  name: 'grok',
  package: '@xai-official/grok',
  bin: 'grok',
  version: '1.0.41',
};

/** Where clients are installed. */
export const CACHE = process.env['GIT_HANDOFF_CLIENTS'] ?? path.join(REPOSITORY, '.cache', 'clients');
const ready = new Map<ClientPackage, string>();

/** Where Copilot CLI unpacks itself when asked for its version. */
export const COPILOT_UNPACKED = path.join(CACHE, '.cache', 'copilot');

/**
 * Installs a client unless its pinned version is in the cache (`.cache/clients`, or $GIT_HANDOFF_CLIENTS to
 * share one between clones). Returns the path of its program. Skips the test if npm cannot install it, or the program
 * does not run.
 */
export function installClient(client: ClientPackage): string {
  const known = ready.get(client);
  if (known !== undefined) return known;
  try {
    return installVersion(client, versionOf(client));
  } catch (error) {
    return skip(error instanceof Error ? error.message : String(error));
  }
}

/** Installs this version unless it is in the cache; then `installClient` returns its program, too. Throws if npm cannot. */
export function installVersion(client: ClientPackage, version: string): string {
  const folder = path.join(CACHE, client.name);
  const program = path.join(folder, 'node_modules', '.bin', client.bin);
  if (!works(program, version)) {
    try {
      install(folder, client, version);
    } catch (error) {
      throw new Error(`${client.package} cannot be installed: ${String(error)}`, { cause: error });
    }
    if (!works(program, version)) throw new Error(`${program} does not say that it is ${version}`);
  }
  ready.set(client, program);
  return program;
}

/** Skips the running test, and prints why, since some reporters do not. */
function skip(reason: string): never {
  process.stderr.write(`skipped: ${reason}\n`);
  TestRunner.getCurrentTest()?.context.skip(reason);
  throw new Error(reason);
}

function versionOf({ name, version: own }: ClientPackage): string {
  const version = own ?? INSTALLERS.find(({ client }) => client === name)?.proven;
  if (version === undefined) throw new Error(`the table of clients names no version of ${name}`);
  return version;
}

function install(folder: string, client: ClientPackage, version: string): void {
  mkdirSync(folder, { recursive: true });
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n');
  const options = ['--save-exact', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  run('npm', ['install', ...options, `${client.package}@${version}`], folder);
  if (client.installScript === undefined) return;
  const home = path.join(folder, 'node_modules', client.package);
  run(process.execPath, [path.join(home, client.installScript)], home);
}

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

function works(program: string, version: string): boolean {
  if (!existsSync(program)) return false;
  try {
    const env = { PATH: process.env['PATH'], HOME: CACHE }; // the program may leave files in its home
    return execFileSync(program, ['--version'], { encoding: 'utf8', env }).includes(version);
  } catch {
    return false;
  }
}
