import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld, OWNER, markedNote } from '../support/guard.ts';
import { containing } from '../support/matchers.ts';

/** The default, `handoff.marker = rewrite`: the guard adds a missing marker, without thereby approving the call. */

const MARKER = `<!-- claude-session: ${CALLER} -->`;

let world: GuardWorld;
let own: string;
beforeAll(() => {
  world = new GuardWorld({ marker: 'unset' });
  world.sessionStart(CALLER);
  own = join(world.memory, 'handoff-main-own-notes.md');
  writeFileSync(own, markedNote(CALLER));
  writeFileSync(join(world.memory, 'handoff-main-old-notes.md'), 'no marker\n');
});
afterAll(() => world.remove());

const inMemory = (name: string) => join(world.memory, name);

describe('a note without a marker', () => {
  it('gets its first line, and keeps every other field of the call', () => {
    const input = {
      file_path: inMemory('handoff-main-new-topic.md'),
      content: '# note\n',
      more: { a: [1, null] },
    };
    expect(world.before('Write', input)).toEqual({
      kind: 'rewrite',
      input: { ...input, content: `${MARKER}\n# note\n` },
      text: undefined,
    });
  });

  it.each([
    ['line ends of Windows', 'a\r\nb\r\n', `${MARKER}\r\na\r\nb\r\n`],
    ['a byte order mark', '\ufeffa\n', `\ufeff${MARKER}\na\n`],
    ['no text', '', `${MARKER}\n`],
    ['control characters', '\u0000\u001b[2J\ud83d\ude00', `${MARKER}\n\u0000\u001b[2J\ud83d\ude00`],
  ])('keeps %s', (_, content, expected) => {
    const answer = world.before('Write', { file_path: inMemory('handoff-main-new-topic.md'), content });
    expect(answer).toMatchObject({ kind: 'rewrite', input: { content: expected } });
  });

  it('keeps 200 KB of text', () => {
    const content = 'line of text\n'.repeat(16_000);
    const answer = world.before('Write', { file_path: inMemory('handoff-main-new-topic.md'), content });
    expect(answer).toMatchObject({ kind: 'rewrite', input: { content: `${MARKER}\n${content}` } });
  });

  it('gets it in the session’s own file that is written again', () => {
    const answer = world.before('Write', { file_path: own, content: 'new\n' });
    expect(answer).toMatchObject({ kind: 'rewrite', input: { content: `${MARKER}\nnew\n` } });
  });

  it('gets it through the tool of an MCP server, in the field that holds the text', () => {
    const path = inMemory('handoff-main-new-topic.md');
    expect(world.before('mcp__files__write_file', { path, text: 'x' })).toMatchObject({
      input: { path, text: `${MARKER}\nx` },
    });
    expect(world.before('mcp__files__write_file', { path, content: 'x' })).toMatchObject({
      input: { path, content: `${MARKER}\nx` },
    });
  });

  it('gets it together with the notice of a related file', () => {
    const answer = world.before('Write', { file_path: inMemory('handoff-feat-own-notes.md'), content: 'x' });
    expect(answer).toMatchObject({
      kind: 'rewrite',
      text: containing('handoff-main-own-notes.md'),
    });
  });
});

describe('no marker is put in', () => {
  it.each([
    ['a text that has it', 'handoff-main-new-topic.md', `${MARKER}\nx`, 'silent'],
    ["a text with another session's", 'handoff-main-new-topic.md', markedNote(OWNER), 'deny'],
    ["another session's file", 'handoff-main-auth-refresh.md', 'x', 'deny'],
    ['a text without a marker that would be lost unread', 'handoff-main-old-notes.md', 'x', 'deny'],
    ['a name that is no note', 'handoff-main.md', 'x', 'deny'],
    ['any other file', 'notes.md', 'x', 'silent'],
  ])('into %s', (_, name, content, kind) => {
    expect(world.before('Write', { file_path: inMemory(name), content })).toMatchObject({ kind });
  });

  it('where the organisation’s settings forbid rewriting', () => {
    const answer = world.hook(
      { tool_name: 'Write', tool_input: { file_path: inMemory('handoff-main-new-topic.md'), content: 'x' } },
      { env: { CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG: '1' } },
    );
    expect(answer).toMatchObject({ kind: 'deny', text: containing(MARKER) });
  });

  it('for a session without an id', () => {
    const file = inMemory('handoff-main-new-topic.md');
    const answer = world.before('Write', { file_path: file, content: 'x' }, { session_id: undefined });
    expect(answer).toEqual({ kind: 'silent' });
  });
});

describe('files that handoff.guardPath names', () => {
  it('are owned by their marker, whatever their names', () => {
    // The launcher does not know the files that handoff.guardPath names, and must leave them to Node.
    const other = new GuardWorld({ marker: 'unset', calls: 'process' });
    const folder = join(other.home, 'shared notes');
    const at = (name: string) => join(folder, name);
    try {
      mkdirSync(folder);
      writeFileSync(at('plan.md'), markedNote(OWNER));
      other.git(['config', 'handoff.guardPath', at('*.md')]);
      other.sessionStart(CALLER);
      expect(other.before('Write', { file_path: at('plan.md'), content: 'x' })).toMatchObject({
        kind: 'deny',
        text: containing('sess-bbb'),
      });
      for (const program of ['rm', 'sed -i d']) {
        expect(other.before('Bash', { command: `${program} '${at('plan.md')}'` })).toMatchObject({
          kind: 'deny',
        });
      }
      expect(other.before('Write', { file_path: at('new.md'), content: 'x' })).toMatchObject({
        kind: 'rewrite',
        input: { content: `${MARKER}\nx` },
      });
      expect(other.before('Write', { file_path: at('data.txt'), content: 'x' }).kind).toBe('silent');
    } finally {
      other.remove();
    }
  });
});
