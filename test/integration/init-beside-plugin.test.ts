import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAUNCHER, TestRepository } from '../support/repository.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Plugins as the clients install them. */
const PLUGINS = {
  claude: {
    file: join('.claude', 'settings.json'),
    on: '{"enabledPlugins":{"git-handoff@git-handoff":true}}',
    offFile: join('.claude', 'settings.json'),
    off: '{"enabledPlugins":{"git-handoff@git-handoff":false}}',
    settings: join('.claude', 'settings.json'),
  },
  codex: {
    file: join('.codex', 'config.toml'),
    on: '[plugins."git-handoff@git-handoff"]\nenabled = true\n\n[x]\nenabled = false\n',
    offFile: join('.codex', 'config.toml'),
    off: '[plugins."git-handoff@git-handoff"]\nenabled   =\tfalse # for now\n',
    settings: join('.codex', 'hooks.json'),
  },
  gemini: {
    file: join('.gemini', 'extensions', 'git-handoff', 'gemini-extension.json'),
    on: '{"name":"git-handoff"}',
    offFile: join('.gemini', 'extensions', 'extension-enablement.json'),
    off: '{"git-handoff":{"overrides":["/*","!/*"]}}',
    settings: join('.gemini', 'settings.json'),
  },
  qwen: {
    file: join('.qwen', 'extensions', 'git-handoff', 'qwen-extension.json'),
    on: '{"name":"git-handoff"}',
    offFile: join('.qwen', 'extensions', 'extension-enablement.json'),
    off: '{"git-handoff":{"overrides":["!/*"]}}',
    settings: join('.qwen', 'settings.json'),
  },
  opencode: {
    file: join('.config', 'opencode', 'opencode.jsonc'),
    on: `{"plugin": [ /* ours */ "${join(ROOT, 'plugins', 'opencode')}"]}`,
    offFile: join('.config', 'opencode', 'opencode.jsonc'),
    off: '{"plugin": ["git-handoff-of-others", ["./x"], 1]}',
    settings: join('.config', 'opencode', 'plugin', 'git-handoff.js'),
  },
  copilot: {
    file: join('.copilot', 'settings.json'),
    on: '{"enabledPlugins":{"git-handoff@git-handoff":true}}',
    offFile: join('.copilot', 'settings.json'),
    off: '{"enabledPlugins":{"git-handoff@git-handoff":false}}',
    settings: join('.copilot', 'hooks', 'git-handoff.json'),
  },
} as const;

let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
  // Codex starts a login shell, and the system's profile may change PATH.
  put(join(repo.home, '.profile'), `PATH='${repo.env()['PATH'] ?? ''}'\n`);
});
afterEach(() => repo.remove());

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const registers = (file: string) => repo.run('grep', ['-q', ' guard --client ', file]).status === 0;

describe.each(['claude', 'codex', 'gemini', 'qwen', 'opencode', 'copilot'] as const)(
  'the plugin of %s',
  (client) => {
    const { file, on, offFile, off, settings } = PLUGINS[client];
    const doctor = () => repo.json(['doctor']).items.filter((item) => item['check'] === `hooks (${client})`);

    it('is enough: init registers nothing, and doctor finds that the plugin’s command reaches the guard', () => {
      put(join(repo.home, file), on);
      expect(repo.handoff(['init', '--yes']).stderr).toContain(`${client} (its plugin has the hooks`);
      expect(registers(join(repo.home, settings))).toBe(false);
      expect(doctor()).toMatchObject([{ status: 'ok' }]);
      const env = { PATH: (repo.env()['PATH'] ?? '').replace(dirname(LAUNCHER), '/nowhere') };
      put(join(repo.home, '.profile'), `PATH='${env.PATH}'\n`);
      const gone = repo.run(LAUNCHER, ['doctor'], { env });
      expect(gone.stdout).toContain('git-handoff is not on PATH');
    });

    it('beside registered hooks is reported by init and doctor', () => {
      put(join(repo.home, file), on);
      const { stderr } = repo.handoff(['init', '--yes', '--client', client]);
      expect(stderr).toContain('every event starts the guard twice');
      expect(registers(join(repo.home, settings))).toBe(true);
      const [double] = doctor().filter(({ status }) => status === 'warning');
      expect(double?.['detail']).toContain('more than once');
      expect(repo.run('sh', ['-c', String(double?.['hint'])]).status).toBe(0);
      expect(doctor()).toMatchObject([{ status: 'ok' }]);
    });

    it('does not count if it is switched off', () => {
      put(join(repo.home, file), on);
      put(join(repo.home, offFile), off);
      repo.ok(['init', '--yes']);
      expect(registers(join(repo.home, settings))).toBe(true);
      expect(doctor()).toMatchObject([{ status: 'ok' }]);
    });
  },
);

it('hooks of one client in two scopes are reported by doctor', () => {
  repo.ok(['init', '--yes']);
  repo.ok(['init', '--yes', '--project', '--client', 'claude']);
  const found = repo.json(['doctor']).items.filter((item) => item['check'] === 'hooks (claude)');
  expect(found.map(({ status }) => status)).toEqual(['ok', 'ok', 'warning']);
  expect(existsSync(join(repo.path, '.claude', 'settings.json'))).toBe(true);
});
