import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Makes the folder in which a run of the tests keeps its templates (template.ts), and removes it at the end. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'git-notes-templates-'));
  project.provide('templates', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
