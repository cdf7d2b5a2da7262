import { describe, expect, it } from 'vitest';
import {
  type MessageParts,
  isRevertMessage,
  messageParts,
  missingTrailers,
  notedModel,
} from '../../src/domain/commit-message.ts';

const mine = '11111111-aaaa-4aaa-8aaa-111111111111';
const other = '22222222-bbbb-4bbb-8bbb-222222222222';
const scissors = '# ------------------------ >8 ------------------------';

/** A message with text, to which a paragraph can be appended. */
const PLAIN: MessageParts = {
  hasText: true,
  namesSession: false,
  namesCommitter: false,
  namesModel: false,
  isTorn: false,
  isPlain: true,
};
const EMPTY = { ...PLAIN, hasText: false };

describe('the parts of a commit message', () => {
  it.each<[string, Partial<MessageParts>]>([
    ['one\n', {}],
    ['one: two\n', {}],
    ['one\n\nbody\n', {}],
    ['one\n\nbody', { isTorn: true }],
    ['one\n\nbody\n\n', { isPlain: false }],
    ['\n\none\n', { isPlain: false }],
    ['one\n\nsee: this\n', { isPlain: false }],
    ['one\n\n(cherry picked from commit 1)\n', { isPlain: false }],
    ['one\n\nSigned-off-by: a <a@b>\n', { isPlain: false }],
    ['one\n# a comment\n', { isPlain: false }],
    [`one\n${scissors}\nClaude-Session-Id: ${mine}\n`, { isPlain: false }],
    [`one\n\nClaude-Session-Id: ${mine}\n`, { namesSession: true, namesCommitter: true, isPlain: false }],
    [`one\n\nclaude-session-id:  11111111 \n`, { namesSession: true, namesCommitter: true, isPlain: false }],
    [`one\n\nClaude-Session-Id: ${other}\n`, { namesSession: true, isPlain: false }],
    ['one\n\nassisted-by: Codex:x\n', { namesModel: true, isPlain: false }],
    ['\u00e9\n\n\u0081\n', {}],
    ['one\r\n\r\nbody\r\n', {}],
  ])('%j has text: %j', (text, parts) => {
    expect(messageParts(text, mine, '#')).toEqual({ ...PLAIN, ...parts });
  });

  it.each<[string, Partial<MessageParts>]>([
    ['', {}],
    ['\n', { isPlain: false }],
    [' \t\n', { isPlain: false }],
    ['# a comment\n', { isPlain: false }],
    ['Signed-off-by: a <a@b>\n', { isPlain: false }],
    [`\nClaude-Session-Id: ${mine}\n`, { namesSession: true, namesCommitter: true, isPlain: false }],
    [`${scissors}\none\n`, { isPlain: false }],
  ])('%j has none: %j', (text, parts) => {
    expect(messageParts(text, mine, '#')).toEqual({ ...EMPTY, ...parts });
  });

  it.each([
    [';', '; x\n', false],
    [';', 'x\n', true],
    ['//', '// x\n', false],
    ['//', '/ x\n', true],
    ['auto', '; x\n', false],
    ['auto', 'auto\n', true],
    ['', 'x\n', true],
  ])('with core.commentChar = %s, %j has text: %s', (comment, text, hasText) => {
    expect(messageParts(text, mine, comment).hasText).toBe(hasText);
    // git before 2.45 ignores core.commentString, and treats this as a comment.
    expect(messageParts(`# x\n`, mine, comment).hasText).toBe(false);
  });

  it.each([
    ['Revert "one"\n', true],
    ['Reapply "one"\n', true],
    ['# *** SAY WHY WE ARE REVERTING ON THE TITLE LINE ***\n', true],
    ['one\n\nRevert "one"\n', false],
    ['', false],
  ])('%j is the message of a revert: %s', (text, isRevert) => {
    expect(isRevertMessage(text)).toBe(isRevert);
  });
});

describe('the trailers that a message lacks', () => {
  const wanted = { 'Claude-Session-Id': mine, 'Assisted-by': 'Codex:gpt-5.5' };
  const [session, model] = [`Claude-Session-Id: ${mine}`, 'Assisted-by: Codex:gpt-5.5'];

  it.each<[Partial<MessageParts>, string[]]>([
    [{}, [session, model]],
    [{ namesSession: true }, [session, model]],
    [{ namesSession: true, namesCommitter: true }, [model]],
    [{ namesModel: true }, [session]],
    [{ namesCommitter: true, namesModel: true }, []],
  ])('where it has %j', (parts, lines) => {
    expect(missingTrailers(wanted, { ...PLAIN, ...parts })).toEqual(lines);
  });

  it('are added only if they are wanted', () => {
    expect(missingTrailers({}, PLAIN)).toEqual([]);
    expect(missingTrailers({ 'Assisted-by': 'Codex:x' }, PLAIN)).toEqual(['Assisted-by: Codex:x']);
  });
});

it.each([
  ['Codex:gpt-5.5\n', 'Codex:gpt-5.5'],
  ['Claude:us.anthropic.claude-opus-4-v1:0[1m]\n', 'Claude:us.anthropic.claude-opus-4-v1:0[1m]'],
  ['Codex:gpt-5.5\nSigned-off-by: x <y@z>\n', 'Codex:gpt-5.5'],
  ['', undefined],
  ['Codex:', undefined],
  ['Codex\n', undefined],
  [':gpt\n', undefined],
  ['Codex:a\rSigned-off-by: x <y@z>\n', undefined],
  ['Codex:gpt 5\n', undefined],
  ['Codex:$(id)"\n', undefined],
  ['Codex:gpt\u00fc\n', undefined],
  [`Codex:${'x'.repeat(200)}\n`, undefined],
])('the noted model %j is told as %j', (file, model) => {
  expect(notedModel(file)).toBe(model);
});
