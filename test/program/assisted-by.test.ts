import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionId } from '../../src/domain/names.ts';
import { readJournal } from '../../src/sessions/journal.ts';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
});
afterEach(() => world.remove());

const known = (session: string) => readJournal(join(world.path, '.git'), session as SessionId).model?.name;

/** Reports a session's start, or another event, as a client does. */
function tells(model: unknown, more: object = {}, client = 'claude'): void {
  const start = { hook_event_name: 'SessionStart', source: 'startup', session_id: A, cwd: world.path };
  world.handoff(['guard', '--client', client], { input: JSON.stringify({ ...start, model, ...more }) });
}

describe('the model that a client tells', () => {
  it('is named in the commits of its session only', () => {
    world.git(['config', 'handoff.assistedBy', 'true']);
    world.begin(A);
    world.begin(B);
    tells('claude-opus-4-8', { source: 'resume' });
    const assisted = (session: string, name: string) => {
      world.bash(session, `echo x >${name} && git add ${name} && git commit -qm ${name}`);
      return world.git(['log', '-1', '--format=%s:%(trailers:key=Assisted-by,valueonly)']).trim();
    };
    expect(assisted(A, 'one')).toBe('one:Claude:claude-opus-4-8');
    expect(assisted(B, 'two')).toBe('two:');
  });

  it.each([
    ['codex', 'gpt-5.5', 'Codex:gpt-5.5'],
    ['qwen', 'qwen3-coder-plus', 'Qwen:qwen3-coder-plus'],
    ['claude', 'us.anthropic.claude-opus-4-v1:0', 'Claude:us.anthropic.claude-opus-4-v1:0'],
    ['claude', 'claude-sonnet-5[1m]', 'Claude:claude-sonnet-5[1m]'],
    ['claude', undefined, undefined],
    ['claude', { id: 'x' }, undefined],
    ['claude', '', undefined],
    ['claude', 'a b', undefined],
    ['claude', 'a\nSigned-off-by: x <y@z>', undefined],
    ['claude', 'a\r\u001b[2J', undefined],
    ['claude', ':a', undefined],
    ['claude', 'é', undefined],
    ['claude', 'x'.repeat(101), undefined],
    ['claude', 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/x', undefined],
  ])('of %s, %j, is noted as %j', (client, model, line) => {
    tells(model, {}, client);
    expect(known(A)).toBe(line);
  });

  it('is recorded at each event, and cleared if its name is invalid', () => {
    tells('gpt-5.5', {}, 'codex');
    const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };
    tells('gpt-6', call, 'codex');
    expect(known(A)).toBe('Codex:gpt-6');
    tells(undefined, call, 'codex');
    expect(known(A)).toBe('Codex:gpt-6');
    tells('gpt 7', call, 'codex');
    expect(known(A)).toBe('');
  });

  it('is not recorded where git-handoff is not switched on', () => {
    const plain = join(world.home, 'plain');
    mkdirSync(plain);
    tells('claude-opus-4-8', { cwd: plain });
    expect(known(A)).toBeUndefined();
  });
});
