import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...names: string[]) => readFileSync(join(ROOT, ...names), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const check = (script: string) => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', script), '--check'], {
    encoding: 'utf8',
  });
  return { status, stderr };
};
const CLEAN = { status: 0, stderr: '' };

/** Every file of the clients' packages, by its path. */
const PACKAGES = ['plugins', 'hooks', '.claude-plugin', '.agents', '.github/plugin'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name)),
);
const MANIFESTS = [...PACKAGES, join(ROOT, 'gemini-extension.json')].filter((file) =>
  /(?:plugin|marketplace|gemini-extension)\.json$/.test(file),
);
const HOOK_FILES = PACKAGES.filter((file) => file.endsWith('hooks.json'));

/** Every command that a hooks file starts, wherever it is in the file. */
function commandsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' ? (['command', 'bash'].includes(key) ? [inner] : []) : commandsIn(inner),
  );
}

describe('what is generated and committed', () => {
  it('the clients’ packages are, byte for byte, what the installers write', () => {
    expect(check('packages.mjs')).toEqual(CLEAN);
  });

  it('THIRD-PARTY-LICENSES lists exactly what is bundled', () => {
    expect(check('licenses.mjs')).toEqual(CLEAN);
    expect(read('THIRD-PARTY-LICENSES')).toMatch(/^yargs-parser \d/m);
    expect(read('THIRD-PARTY-LICENSES')).not.toMatch(/^(?:vitest|typescript) \d/m);
  });

  it('every manifest has the version of the package', () => {
    const versions = MANIFESTS.map((file) => {
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
        version?: string;
        plugins?: { version?: string }[];
      };
      return manifest.version ?? manifest.plugins?.[0]?.version;
    });
    expect(versions.length).toBe(8);
    expect(new Set(versions)).toEqual(new Set([version]));
  });

  it('is named in the changelog, or will be', () => {
    expect(read('CHANGELOG.md')).toMatch(/^## \[Unreleased\]$/m);
  });
});

describe('the hooks of the packages', () => {
  it('exist for each client that has them', () => {
    expect(HOOK_FILES.length).toBe(6);
  });

  it.each(HOOK_FILES.map((file) => [file.slice(ROOT.length + 1), file]))(
    '%s is inert without us',
    (_, file) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-notes-path-')));
      try {
        symlinkSync('/bin/sh', join(folder, 'sh'));
        const commands = new Set(commandsIn(JSON.parse(readFileSync(file, 'utf8'))));
        expect(commands.size).toBe(1);
        for (const command of commands) {
          expect(command).toContain('git-handoff guard --client ');
          const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
            env: { PATH: folder },
            input: '{"hook_event_name":"PreToolUse"}',
            encoding: 'utf8',
          });
          expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

describe('the workflows', () => {
  interface Workflow {
    readonly permissions: unknown;
    readonly jobs: Readonly<
      Record<
        string,
        {
          steps: { name?: string; run?: string; uses?: string }[];
          strategy?: { matrix: Record<string, unknown[]> };
        }
      >
    >;
  }
  const folder = join(ROOT, '.github', 'workflows');
  const workflows = readdirSync(folder).map(
    (name) => [name, readFileSync(join(folder, name), 'utf8')] as const,
  );

  it.each(workflows)(
    '%s pins every action by its full commit name, and says which version that is',
    (_, text) => {
      const { jobs, permissions } = parse(text) as Workflow;
      expect(permissions).toEqual({ contents: 'read' });
      const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
      expect(used.length).toBeGreaterThan(0);
      for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      const lines = text.split('\n').filter((line) => line.includes('uses:'));
      expect(lines.length).toBe(used.length);
      for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    },
  );

  it.each([
    ['this version of this repository', 'v1.2.3', 'git+https://github.com/you/git-handoff.git', 0],
    ['another version', 'v1.2.4', 'git+https://github.com/you/git-handoff.git', 1],
    ['a fork', 'v1.2.3', 'git+https://github.com/them/git-handoff.git', 1],
    ['a package that names no repository', 'v1.2.3', undefined, 1],
  ])(
    'release.yml goes on only with a tag of this version of this repository: %s',
    (_, tag, url, expected) => {
      const { jobs } = parse(read('.github', 'workflows', 'release.yml')) as Workflow;
      const step = jobs['pack']?.steps.find(({ name }) => name?.startsWith('The tag is the version'));
      const folder = mkdtempSync(join(tmpdir(), 'git-notes-release-'));
      try {
        const manifest = {
          version: '1.2.3',
          type: 'module',
          ...(url && { repository: { type: 'git', url } }),
        };
        writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
        // GitHub runs a step like this.
        const { status } = spawnSync('bash', ['-e', '-c', step?.run ?? 'exit 9'], {
          cwd: folder,
          env: { PATH: process.env['PATH'], GITHUB_REF_NAME: tag, GITHUB_REPOSITORY: 'you/git-handoff' },
          stdio: 'ignore',
        });
        expect(status).toBe(expected);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('test three Node lines on three operating systems', () => {
    const { jobs } = parse(read('.github', 'workflows', 'ci.yml')) as Workflow;
    const { node = [], os = [] } = jobs['tests']?.strategy?.matrix ?? {};
    expect([node.length, os.length]).toEqual([3, 3]);
  });
});
