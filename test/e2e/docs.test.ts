import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../scripts/docs.mjs';
import { type Step, stepsOf } from './docs/blocks.ts';
import { type Differing, renewed, rewritePage } from './docs/rewrite.ts';
import { compared } from '../support/shape.ts';
import { DocsWorld } from './docs/world.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Pages with a test of their own, which runs the blocks in `languages`. */
const OWN_TEST: Readonly<Record<string, { test: string; languages: RegExp }>> = {
  'docs/server.md': { test: 'test/integration/server-page.test.ts', languages: /./ },
};

const commands = pages()
  .map((page) => {
    const own = OWN_TEST[page]?.languages;
    const text = readFileSync(join(ROOT, page), 'utf8');
    // Blank lines replace the blocks, so that line numbers stay right.
    const others = text.replaceAll(/^```(\w*)\n.*?^```$/gms, (block, language: string) =>
      own?.test(language) === true ? block.replaceAll(/[^\n]/g, '') : block,
    );
    return { page, steps: stepsOf(others) };
  })
  .filter(({ steps }) => steps.length > 0);

const titled = (steps: readonly Step[]) =>
  steps.map((step) => {
    const what = step.kind === 'type' ? `${step.who}$ ${step.command}` : step.kind;
    return [`line ${step.line}: ${what}`, step] as const;
  });

describe.each(commands)('$page', ({ page, steps }) => {
  let world: DocsWorld | undefined;
  beforeAll(() => {
    if (steps.some(({ kind }) => kind === 'type') && steps[0]?.kind !== 'world')
      world = new DocsWorld('claude');
  });
  afterAll(() => {
    world?.close();
    if (differing.length > 0) rewritePage(join(ROOT, page), differing);
  });
  const differing: Differing[] = [];

  it.each(titled(steps))('%s', async (_, step) => {
    if (step.kind === 'wrong') expect.fail(step.what);
    if (step.kind === 'left-out') expect(step.why).toMatch(/\w{3}/);
    if (step.kind === 'elsewhere') expect(existsSync(join(ROOT, step.test))).toBe(true);
    if (step.kind === 'world') {
      world?.close();
      world = new DocsWorld(step.client);
    }
    if (step.kind === 'type') differing.push(...(await check(world, step)));
  });
});

/**
 * Expects that a command prints what the page shows. A hidden command, or one in an `sh` block, only has to succeed. With
 * `GIT_HANDOFF_DOCS=write` (`npm run docs:write`), the present output is written into the page.
 */
async function check(world: DocsWorld | undefined, step: Step & { kind: 'type' }): Promise<Differing[]> {
  if (world === undefined) throw new Error('no world to type it in');
  const { output, status } = await world.type(step.who, step.command);
  expect(output).not.toContain('fault of git-handoff');
  if (step.shows === undefined) {
    expect({ status, output }).toEqual({ status: 0, output });
    return [];
  }
  const { shown, printed } = compared(step.shows, output);
  const differing = { line: step.line, shows: step.shows, output };
  const mayWrite = process.env['GIT_HANDOFF_DOCS'] === 'write' && renewed(differing) !== undefined;
  if (mayWrite && shown !== printed) return [differing];
  expect(printed).toBe(shown);
  return [];
}

describe('pages with a test of their own', () => {
  const there = Object.entries(OWN_TEST).filter(([page]) => existsSync(join(ROOT, page)));
  it.each(there)('%s: that test reads the page', (page, { test }) => {
    const name = page.replace(/^docs\//, '');
    expect(readFileSync(join(ROOT, test), 'utf8')).toContain(name);
  });
});
