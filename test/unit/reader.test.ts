import { describe, expect, it } from 'vitest';
import type { HandoffCommit } from '../../src/domain/handoff.ts';
import type { Oid, SessionId } from '../../src/domain/names.ts';
import {
  type Reader,
  acknowledgedOf,
  decideOperator,
  isUnread,
  readerName,
} from '../../src/domain/note-owner.ts';

const oid = (digit: string) => digit.repeat(40) as Oid;
const commit = (digit: string, owner: string, from?: string) =>
  ({ oid: oid(digit), trailers: { owner: owner as SessionId, from } }) as HandoffCommit;
const after = (digit: string, ...parents: string[]): HandoffCommit => ({
  ...commit(digit, 'x'),
  parents: parents.map(oid),
});
const reader = (session: string | undefined, operator?: string): Reader => ({
  session: session as SessionId | undefined,
  operator,
});

describe('unread', () => {
  it.each<[string, HandoffCommit, Reader, Oid | undefined, boolean]>([
    ['another session’s', commit('1', 'sess-b'), reader('sess-a'), undefined, true],
    ['the reader’s own', commit('1', 'sess-a'), reader('sess-a'), undefined, false],
    ['acknowledged', commit('1', 'sess-b'), reader('sess-a'), oid('1'), false],
    ['acknowledged before it changed', commit('2', 'sess-b'), reader('sess-a'), oid('1'), true],
    [
      'from its operator, by another session',
      commit('1', 'sess-b', 'ada'),
      reader('sess-a', 'ada'),
      undefined,
      false,
    ],
    ['from another operator', commit('1', 'sess-b', 'bob'), reader('sess-a', 'ada'), undefined, true],
    ['by its session for another', commit('1', 'sess-a', 'bob'), reader('sess-a', 'ada'), undefined, false],
    ['nobody reads', commit('1', 'sess-b'), reader(undefined), undefined, true],
    [
      'nobody reads what is from nobody',
      commit('1', 'sess-b', undefined),
      reader(undefined),
      undefined,
      true,
    ],
  ])('%s', (_what, tip, who, acknowledged, unread) => {
    expect(isUnread(tip, who, acknowledged)).toBe(unread);
  });

  it('includes a commit without readable trailers', () => {
    expect(isUnread({ ...commit('1', 'x'), trailers: undefined }, reader(undefined), undefined)).toBe(true);
  });

  it('includes no version before the acknowledged one', () => {
    const history = [after('3', '2'), after('2', '1'), after('1')];
    expect(acknowledgedOf(history, oid('2'))).toEqual([oid('2'), oid('1')]);
    expect(acknowledgedOf(history, oid('9'))).toEqual([]);
    expect(acknowledgedOf(history, undefined)).toEqual([]);
  });

  it('includes no version from either parent of an acknowledged merge; without the merge, one parent counts alone', () => {
    const history = [after('4', '3', '2'), after('3', '1'), after('2', '1'), after('1')];
    expect(acknowledgedOf(history, oid('4'))).toHaveLength(4);
    expect(acknowledgedOf(history, oid('3'))).toEqual([oid('3'), oid('1')]);
  });
});

describe('the operator', () => {
  const operators = [{ id: 'ada', email: 'ada@example.org', activeUntil: undefined }];
  it('is the configured one, else the one with the address', () => {
    expect(decideOperator('bob', 'ada@example.org', operators)).toBe('bob');
    expect(decideOperator(undefined, 'ada@example.org', operators)).toBe('ada');
    expect(decideOperator(undefined, 'x@example.org', operators)).toBeUndefined();
    expect(decideOperator(undefined, undefined, operators)).toBeUndefined();
  });

  it('stays the same reader across sessions', () => {
    expect(readerName(reader('sess-a', 'ada'))).toBe('ada');
    expect(readerName(reader('sess-a'))).toBe('sess-a');
  });
});
