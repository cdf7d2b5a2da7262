import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const MAX_PACKED_BYTES = 634 * 1024;

/** What is published besides the schemas. */
const CONTENTS = [
  'LICENSE',
  'README.md',
  'THIRD-PARTY-LICENSES',
  'bin/git-handoff',
  'dist/cli.cjs',
  'dist/decisions.cjs',
  'dist/hook.cjs',
  'dist/rolldown-runtime.cjs',
  'dist/seldom.cjs',
  'dist/shell.cjs',
  'dist/start.cjs',
  'dist/verbs.cjs',
  'docs/git-handoff.1',
  'git-hooks/ask.sh',
  'git-hooks/commit-msg',
  'git-hooks/pre-commit',
  'git-hooks/pre-push',
  'git-hooks/prepare-commit-msg',
  'git-hooks/server-pre-receive',
  'git-hooks/server-update',
  'package.json',
  'plugins/opencode/index.js',
  'skills/git-handoff/SKILL.md',
];
const SCHEMA = /^schema\/[\w.-]+\.json$/;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

describe('the published package', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-package-')));
  const prefix = join(folder, 'prefix');
  const home = join(folder, 'home');
  const environment = {
    PATH: [join(prefix, 'bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
  };
  const run = (command: string, args: string[], options: { cwd?: string; input?: string } = {}) =>
    spawnSync(command, args, { cwd: folder, env: environment, encoding: 'utf8', ...options });
  const npm = (args: string[], cwd: string) => {
    const { status, stdout, stderr } = run('npm', args, { cwd });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  };
  /** npm 10 and 11 print a list, npm 12 an object by name. */
  const pack = (args: string[]) =>
    Object.values(JSON.parse(npm(['pack', '--json', ...args], ROOT)) as Record<string, Packed>)[0];

  let packed: Packed | undefined;
  beforeAll(() => {
    packed = pack(['--pack-destination', folder]);
    const tarball = join(folder, packed?.filename ?? '');
    npm(
      ['install', '--global', '--offline', '--no-audit', '--no-fund', `--prefix=${prefix}`, tarball],
      folder,
    );
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('contains what it should and nothing else', () => {
    const files = pack(['--dry-run'])?.files.map(({ path }) => path) ?? [];
    expect(files.filter((path) => !SCHEMA.test(path)).sort()).toEqual([...CONTENTS].sort());
  });

  it('keeps executable modes', () => {
    const modes = packed?.files.filter(({ path }) => /^bin\/|^git-hooks\/[\w-]+$/.test(path)) ?? [];
    expect(modes.map(({ path, mode }) => [path, (mode & 0o111) !== 0])).toEqual([
      ['bin/git-handoff', true],
      ['git-hooks/commit-msg', true],
      ['git-hooks/pre-commit', true],
      ['git-hooks/pre-push', true],
      ['git-hooks/prepare-commit-msg', true],
      ['git-hooks/server-pre-receive', true],
      ['git-hooks/server-update', true],
    ]);
  });

  it('is at most 634 KiB packed', () => {
    expect(packed?.size).toBeGreaterThan(0);
    expect(packed?.size).toBeLessThanOrEqual(MAX_PACKED_BYTES);
  });

  it('has no dependency, and runs nothing when it is installed', () => {
    const installed = join(prefix, 'lib', 'node_modules', 'git-handoff');
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      scripts?: Record<string, string>;
    } & Record<string, unknown>;
    for (const kind of ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies']) {
      expect(Object.keys(manifest[kind] ?? {})).toEqual([]);
    }
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts).not.toHaveProperty(name);
    }
    expect(existsSync(join(installed, 'node_modules'))).toBe(false);
  });

  it('makes `git handoff` work, and `git handoff --help` open its manual', () => {
    const { status, stdout } = run('git', ['handoff', '-h']);
    expect(status).toBe(0);
    expect(stdout).toContain('leave a note, or a new version of yours');
    const page = join(prefix, 'share', 'man', 'man1', 'git-handoff.1');
    expect(readFileSync(page, 'utf8')).toBe(readFileSync(join(ROOT, 'docs', 'git-handoff.1'), 'utf8'));
  });

  it('guards from where it is installed', () => {
    const project = join(folder, 'project');
    const git = (...args: string[]) => run('git', args, { cwd: project }).status;
    expect(run('git', ['init', '-q', '-b', 'main', project]).status).toBe(0);
    expect(git('handoff', 'init', '--yes')).toBe(0);
    const settings = readFileSync(join(home, '.claude', 'settings.json'), 'utf8');
    const [, command = ''] = /"command": "(p=.*? claude)"/.exec(settings) ?? [];
    expect(command).toContain(join(prefix, 'lib', 'node_modules', 'git-handoff', 'bin', 'git-handoff'));
    const payload = JSON.stringify({
      session_id: 'b7d94e06-13ac-4f8e-8a52-c4d6e8f0a2b4',
      cwd: project,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'git update-ref -d refs/handoffs/main/auth-refresh' },
    });
    const hook = run('/bin/sh', ['-c', JSON.parse(`"${command}"`) as string], {
      cwd: project,
      input: payload,
    });
    expect(hook.status).toBe(0);
    expect(hook.stdout).toContain('"permissionDecision":"deny"');
    expect(git('handoff', 'uninstall', '--yes')).toBe(0);
    expect(existsSync(join(home, '.claude', 'settings.json'))).toBe(false);
  });

  it.each(['init', 'write', 'commit', 'completion'])('explains %s when it is installed', (verb) => {
    const { status, stdout } = run('git', ['handoff', verb, '-h']);
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples:\\n +git handoff ${verb}\\b`));
  });

  // What `git handoff --help` does: git asks man, which finds share/man beside bin on PATH.
  const hasMan = spawnSync('man', ['--version']).status === 0;
  it.runIf(hasMan)('opens its manual for `git handoff --help`', () => {
    const { status, stdout, stderr } = run('git', ['handoff', '--help'], {});
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('completion <shell>');
  });

  it('completes from where it is installed', () => {
    expect(run('git', ['handoff', 'completion', 'bash']).stdout).toContain('_git_handoff()');
  });

  it('passes publint without warnings or suggestions', async () => {
    const tarball = readFileSync(join(folder, packed?.filename ?? ''));
    const bytes = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);
    const { messages } = await publint({ pack: { tarball: bytes }, strict: true });
    expect(messages).toEqual([]);
  });

  // Nobody imports a command-line program: without types and an entry point, attw has nothing to check.
  it('has no types that attw could find wrong', () => {
    const { status, stdout } = run(join(ROOT, 'node_modules', '.bin', 'attw'), [
      ...['--format', 'json', join(folder, packed?.filename ?? '')],
    ]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ analysis: { packageName: 'git-handoff', types: false } });
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
    for (const key of ['main', 'exports', 'types', 'module']) expect(manifest).not.toHaveProperty(key);
  });

  it('is named by its version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(basename(packed?.filename ?? '')).toBe(`git-handoff-${version}.tgz`);
    expect(run('git', ['handoff', '--version']).stdout).toBe(`git-handoff version ${version}\n`);
  });
});
