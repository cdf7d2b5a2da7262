import { chmodSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LAUNCHER } from '../support/repository.ts';
import { A, B, ServerWorld, remoteLines } from '../support/server-world.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'server.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, text]) => text ?? '');
const [link = '', call = '', job = '', fallback = '', ...none] = blocks('sh');
const REF = 'refs/handoffs/main/auth-refresh';

let world: ServerWorld;
let bin: string;

/** A machine where npm has installed the package under a prefix. */
beforeEach(() => {
  world = new ServerWorld(undefined);
  const prefix = join(world.root, 'prefix');
  bin = join(prefix, 'bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(prefix, 'lib', 'node_modules'), { recursive: true });
  symlinkSync(ROOT, join(prefix, 'lib', 'node_modules', 'git-handoff'));
  symlinkSync(LAUNCHER, join(bin, 'git-handoff'));
  world.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
});
afterEach(() => world.remove());

const env = () => ({ PATH: `${bin}:${world.env()['PATH']}`, BASE: 'main' });
const type = (block: string, cwd?: string) =>
  world.run('sh', ['-ec', block.replaceAll('/srv/git/team.git', world.server)], {
    env: env(),
    ...(cwd === undefined ? {} : { cwd }),
  });

describe('docs/server.md', () => {
  it.each([
    ['links the hook', () => link],
    ['calls it from another', () => call],
  ])('%s', (_, block) => {
    expect(none).toEqual([]);
    expect(type(block())).toMatchObject({ status: 0, stderr: '' });
    chmodSync(join(world.server, 'hooks', 'pre-receive'), 0o755);
    expect(world.push([REF, 'main'], { env: env() })).toMatchObject({ status: 0, stderr: '' });
    const run = world.push([`:${REF}`], { env: env() });
    const shown = /^remote: (error: .*)\nremote: (hint: .*)$/m.exec(page);
    expect(remoteLines(run)).toEqual(shown?.slice(1));
  });

  it('checks a pull request in CI, the same way in each example', () => {
    const [actions, gitlab] = blocks('yaml').map((text): unknown => parse(text));
    const { steps } = (actions as { jobs: { handoffs: { steps: { run?: string }[] } } }).jobs.handoffs;
    const { script } = (gitlab as { handoffs: { script: string[] } }).handoffs;
    const lines = job.trimEnd().split('\n');
    expect(steps.flatMap(({ run }) => run ?? []).slice(1)).toEqual(lines);
    expect(script.slice(1)).toEqual(lines);
    world.push(['main', REF]);
    world.git(['switch', '-qc', 'feature']);
    world.push(['feature']);
    const clone = join(world.root, 'job');
    world.git(['clone', '-q', '-b', 'feature', world.server, clone], { cwd: world.root });
    expect(type(job, clone)).toMatchObject({ status: 0 });
    const both = `both\n\nClaude-Session-Id: ${A}\nClaude-Session-Id: ${B}`;
    world.git(['commit', '-q', '--allow-empty', '-m', both], { cwd: clone });
    expect(type(job, clone).status).toBe(1);
  });

  it('has a fallback that the server judges', () => {
    type(link);
    expect(type(fallback, world.server)).toMatchObject({ status: 0, stderr: '' });
    const ref = 'refs/heads/handoffs/main/auth-refresh';
    expect(world.push([`${REF}:${ref}`])).toMatchObject({ status: 0, stderr: '' });
    expect(world.push([`:${ref}`]).status).toBe(1);
  });
});
