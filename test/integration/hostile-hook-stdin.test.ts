import { spawn } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld } from '../support/guard.ts';
import { hostileCases } from '../support/hostile-cases.ts';
import { readAnswer } from '../support/hook-answer.ts';
import { LAUNCHER, type Run, finished } from '../support/repository.ts';

interface StdinCase {
  readonly id: string;
  readonly why: string;
  readonly expect: 'deny' | 'fail-open' | 'deny-or-allow' | 'no-crash';
  readonly stdin:
    | { readonly kind: 'utf8'; readonly value: string; readonly closeStdout?: boolean }
    | { readonly kind: 'base64'; readonly value: string }
    | {
        readonly kind: 'generate';
        readonly unit: string;
        readonly count: number;
        readonly prefix: string;
        readonly template: string;
      };
}

const cases = hostileCases<StdinCase>('hook-stdin.json');

/** A guard that takes longer than this, in milliseconds, hangs even on a loaded machine. */
const HANGS_MS = 20_000;

let world: GuardWorld;
beforeAll(() => {
  world = new GuardWorld({ calls: 'process' });
  world.sessionStart(CALLER);
});
beforeEach(() => world.clearLog());
afterAll(() => world.remove());

function bytesOf(stdin: StdinCase['stdin']): Buffer {
  switch (stdin.kind) {
    case 'utf8':
      return Buffer.from(world.fill(stdin.value));
    case 'base64': {
      const bytes = Buffer.from(stdin.value, 'base64');
      const filled = world.fill(bytes.toString('latin1'));
      return Buffer.from(filled, 'latin1');
    }
    case 'generate': {
      const text = JSON.stringify(stdin.prefix + stdin.unit.repeat(stdin.count));
      return Buffer.from(world.fill(stdin.template).replace('%JSON%', () => text));
    }
  }
}

/** Runs the guard in the home folder, so that only the payload says where the client works. */
async function guard({ stdin }: StdinCase): Promise<Run> {
  const child = spawn(LAUNCHER, ['guard', '--client', 'claude'], { cwd: world.home, env: world.env() });
  child.stdin.on('error', () => undefined);
  child.stdin.end(bytesOf(stdin));
  if ('closeStdout' in stdin) child.stdout.destroy();
  const hangs = setTimeout(() => child.kill('SIGKILL'), HANGS_MS);
  try {
    return await finished(child);
  } finally {
    clearTimeout(hangs);
    child.stdin.destroy();
  }
}

describe('what a hook may find on its standard input', () => {
  it.each(cases)('$id $why: $expect', async (one) => {
    const run = await guard(one);
    const answer = 'closeStdout' in one.stdin ? undefined : readAnswer(run, 'PreToolUse');
    switch (one.expect) {
      case 'deny':
        expect(answer?.kind).toBe('deny');
        break;
      case 'fail-open':
        expect(answer?.kind).toBe('silent');
        expect(world.log()).toHaveLength(1);
        break;
      case 'deny-or-allow':
        expect(['deny', 'silent']).toContain(answer?.kind);
        break;
      case 'no-crash':
        expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    }
  });
});
