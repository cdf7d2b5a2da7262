import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const picture = readFileSync(join(ROOT, 'docs', 'terminal.svg'), 'utf8');

describe("the README's picture of a terminal", () => {
  it('is what the demo prints now', () => {
    const script = join(ROOT, 'scripts', 'terminal-picture.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('is small, has colours for light and dark, and loads nothing', () => {
    expect(picture.length).toBeLessThanOrEqual(40 * 1024);
    expect(picture).toContain('prefers-color-scheme:dark');
    expect(picture).not.toMatch(/<script|href=|url\(|\son\w+=/);
    expect(picture).toContain('retry.yml: claude a1f0c3d2');
  });
});
