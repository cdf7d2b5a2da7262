import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { quietly } from '../host/disk.ts';
import { jsonSettings } from './hook-settings.ts';

/*
 * Finds out whether our plugin or extension for a client is switched on. If `init` registered the hooks, too, every event
 * would start the guard twice. In test/clients, the real clients write the files that are read here.
 */

const NAME = 'git-handoff';

/** The file as a binary string; undefined if it cannot be read. */
export const readSettingsText = (file: string): string | undefined =>
  quietly(() => readFileSync(file, 'latin1'));

/** The settings file whose `enabledPlugins` switches our plugin on (Claude Code, Copilot CLI); a later file wins. */
export function enabledPlugin(files: readonly string[]): string | undefined {
  let enabledBy: string | undefined;
  for (const file of files) {
    const plugins = objectIn(fieldsOf(file)['enabledPlugins']);
    for (const [name, isEnabled] of Object.entries(plugins)) {
      if (name.startsWith(`${NAME}@`)) enabledBy = isEnabled === false ? undefined : file;
    }
  }
  return enabledBy;
}

/** Codex CLI's `config.toml`, if a table of it switches our plugin on. */
export function codexPlugin(file: string): string | undefined {
  const lines = (readSettingsText(file) ?? '').split('\n').map((line) => line.trim());
  const start = lines.findIndex((line) => line.startsWith(`[plugins."${NAME}@`));
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('['));
  const table = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length);
  return table.some((line) => /^enabled\s*=\s*false/.test(line)) ? undefined : file;
}

/** The manifest of our extension (Gemini CLI, Qwen Code), unless the last rule for the client's start folder says "off". */
export function extension(folder: string, cwd: string, name: string): string | undefined {
  const manifest = join(folder, NAME, name);
  if (readSettingsText(manifest) === undefined) return undefined;
  const rules = objectIn(fieldsOf(join(folder, 'extension-enablement.json'))[NAME]);
  const overrides = Array.isArray(rules['overrides']) ? (rules['overrides'] as unknown[]) : [];
  const last = overrides.findLast((rule) => typeof rule === 'string' && covers(rule, cwd));
  return typeof last === 'string' && last.startsWith('!') ? undefined : manifest;
}

/** Whether a rule covers a folder. A rule is a path; a final `*` includes all under it, a leading `!` means "off". */
function covers(rule: string, cwd: string): boolean {
  const path = rule.startsWith('!') ? rule.slice(1) : rule;
  const here = `${cwd}/`;
  return path.endsWith('*') ? here.startsWith(path.slice(0, -1)) : here === path || cwd === path;
}

/** The settings file that lists our folder among its `plugin`s (OpenCode). */
export function listedPlugin(files: readonly string[]): string | undefined {
  return files.find((file) => {
    const { plugin } = fieldsOf(file);
    const modules = Array.isArray(plugin) ? (plugin as unknown[]) : [];
    return modules.some((module) => typeof module === 'string' && isOurs(module, dirname(file)));
  });
}

function isOurs(module: string, from: string): boolean {
  const manifest = join(resolve(from, module.replace(/^file:\/\//, '')), 'package.json');
  return fieldsOf(manifest)['name'] === NAME;
}

/** The fields of a JSON file, perhaps with comments; none if it cannot be read. */
const fieldsOf = (file: string): Readonly<Record<string, unknown>> =>
  quietly(() => jsonSettings(readSettingsText(file) ?? '', { comments: true })) ?? {};

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
