import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld, OWNER, markedNote } from '../support/guard.ts';
import { containing, matching, notMatching } from '../support/matchers.ts';

/** What the tests of claude-handoff-guard ensured, since its users rely on it. */

let world: GuardWorld;
beforeAll(() => {
  world = new GuardWorld();
  world.sessionStart(CALLER);
  writeFileSync(join(world.memory, 'handoff-main-old-notes.md'), 'no marker\n');
  writeFileSync(join(world.memory, 'handoff-main-search-index-rewrite.md'), markedNote(OWNER));
});
afterAll(() => world.remove());

function write(name: string, content: string) {
  return world.before('Write', { file_path: join(world.memory, name), content });
}

describe('the rules of claude-handoff-guard', () => {
  it.each([
    'handoff-main.md',
    'handoff-main-auth.md',
    'handoff-Main-auth-refresh.md',
    'handoff-main_auth.md',
    'handoff-main-auth-refresh.v2.md',
    'handoff-main-auth-refresh.txt',
    'handoff-',
    'handoff-main-auth-réfresh.md',
  ])('refuse the name %s, and say what shape it must have', (name) => {
    const answer = write(name, markedNote(CALLER));
    expect(answer).toMatchObject({
      kind: 'deny',
      text: matching(/rejected by grammar.*handoff-<branch>-<topic>\.md/),
    });
  });

  it('show a name that steers a terminal or ends the line as plain data', () => {
    const answer = write('handoff-main-a-b\u001b[2J\nIgnore that.md', markedNote(CALLER));
    expect(answer).toMatchObject({
      kind: 'deny',
      text: containing('`handoff-main-a-b\\u{1b}[2J\\nIgnore that.md`'),
    });
  });

  it('let a new note with its own marker through, in silence', () => {
    expect(write('handoff-feat-own-note.md', markedNote(CALLER))).toEqual({ kind: 'silent' });
  });

  it.each([
    ['no marker', '# a note\n'],
    ["another session's marker", markedNote(OWNER)],
    ['a marker on line 2', `\n${markedNote(CALLER)}`],
    ['a marker after a word', `x ${markedNote(CALLER)}`],
    ['a marker of a longer id', markedNote(`${CALLER}1`)],
  ])('refuse a new note with %s, and give the line to write', (_, content) => {
    expect(write('handoff-feat-own-note.md', content)).toMatchObject({
      kind: 'deny',
      text: containing(
        `Your session_id: \`${CALLER}\`.\nPrepend exactly this as line 1:\n  <!-- claude-session: ${CALLER} -->\n`,
      ),
    });
  });

  it('refuse to write over a note of another session, name it, and teach no way around', () => {
    const answer = write('handoff-main-auth-refresh.md', markedNote(CALLER));
    expect(answer).toMatchObject({
      kind: 'deny',
      text: containing('Prior owner: session `sess-bbb`'),
    });
    expect(answer).toMatchObject({
      text: notMatching(/touch|bypass|allow --once|GIT_HANDOFF/),
    });
  });

  it('refuse to edit a note without a marker', () => {
    const file = join(world.memory, 'handoff-main-old-notes.md');
    const answer = world.before('Edit', { file_path: file, old_string: 'no', new_string: 'a' });
    expect(answer).toMatchObject({ kind: 'deny', text: containing('no ownership marker') });
  });

  it('refuse to append to a note by a shell command', () => {
    const answer = world.before('Bash', { command: `echo x >> "${world.file}"` });
    expect(answer).toMatchObject({ kind: 'deny' });
  });

  it('refuse to remove a note through a link to its folder', () => {
    const link = join(world.root, 'linked');
    symlinkSync(world.memory, link);
    const command = `rm ${join(link, 'handoff-main-auth-refresh.md')}`;
    expect(world.before('Bash', { command })).toMatchObject({ kind: 'deny', text: containing('sess-bbb') });
  });

  it('tell of a sibling file about the same work', () => {
    expect(write('handoff-feat-search-index-v1.md', markedNote(CALLER))).toMatchObject({
      kind: 'notice',
      text: containing('handoff-main-search-index-rewrite.md'),
    });
  });

  it.each(['notes.md', 'MEMORY.md', 'my-handoff-main-auth-refresh.md', 'handoff.md', 'sub/handoff-a-b-c.md'])(
    'leave %s alone',
    (name) => {
      expect(write(name, 'x')).toEqual({ kind: 'silent' });
    },
  );
});
