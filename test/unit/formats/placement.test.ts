import { describe, expect, it } from 'vitest';
import {
  type IncomingNote,
  type KnownTopic,
  candidates,
  decidePlacement,
  sourceName,
} from '../../../src/domain/formats/placement.ts';
import type { BranchName, Topic } from '../../../src/domain/names.ts';
import { oidOf, sessionOf } from '../../support/chain.ts';

const [a, b, me] = [sessionOf('a'), sessionOf('b'), sessionOf('m')];
const incoming: IncomingNote = {
  branch: 'main' as BranchName,
  topic: 'auth-refresh' as Topic,
  note: oidOf(1),
  owner: a,
  state: 'open',
  importedFrom: 'guard:x.md',
  copyOf: undefined,
};
const known: KnownTopic = {
  branch: incoming.branch,
  topic: incoming.topic,
  tip: oidOf(9),
  owner: a,
  state: 'open',
  importedFrom: incoming.importedFrom,
  notes: [oidOf(2)],
};
const second = { ...known, topic: 'auth-refresh-2' as Topic };

describe('an imported note', () => {
  it.each<[string, Partial<IncomingNote>, readonly Partial<KnownTopic>[], object]>([
    ['creates its topic', {}, [], { kind: 'create', target: { topic: 'auth-refresh' } }],
    ['is there already', {}, [{ notes: [oidOf(1)] }], { kind: 'unchanged' }],
    [
      'was there before',
      {},
      [{ notes: [oidOf(3), oidOf(1)], importedFrom: undefined }],
      { kind: 'unchanged' },
    ],
    ['is there as a foreign note', {}, [{ notes: [oidOf(1)], owner: b }], { kind: 'unchanged' }],
    ['is the next version', {}, [{}], { kind: 'update' }],
    ['of another owner', {}, [{ owner: b }], { kind: 'not-owner' }],
    ['of another owner, which the caller took', {}, [{ owner: me }], { kind: 'update' }],
    [
      'of another file',
      {},
      [{ importedFrom: 'guard:y.md' }],
      { kind: 'create', target: { topic: 'auth-refresh-2' } },
    ],
    [
      'beside a written one',
      {},
      [{ importedFrom: undefined }],
      { kind: 'create', target: { topic: 'auth-refresh-2' } },
    ],
    [
      'beside two',
      {},
      [{ importedFrom: undefined }, { ...second, importedFrom: undefined }],
      { target: { topic: 'auth-refresh-3' } },
    ],
    ['beside one, imported', {}, [{ importedFrom: undefined }, second], { kind: 'update', target: second }],
    ['put away since', { state: 'closed' }, [{ notes: [oidOf(1)] }], { kind: 'close' }],
    ['put away, of another', { state: 'closed' }, [{ notes: [oidOf(1)], owner: b }], { kind: 'unchanged' }],
    ['put away, written on', { state: 'closed' }, [{ notes: [oidOf(3), oidOf(1)] }], { kind: 'unchanged' }],
    [
      'put away, closed',
      { state: 'closed' },
      [{ notes: [oidOf(1)], state: 'closed' }],
      { kind: 'unchanged' },
    ],
    [
      'put away, of another file',
      { state: 'closed', importedFrom: 'guard:y.md' },
      [{ notes: [oidOf(1)] }],
      { kind: 'unchanged' },
    ],
    ['a copy of the tip, changed', { copyOf: oidOf(9) }, [{ importedFrom: undefined }], { kind: 'update' }],
    [
      'a copy of an old tip',
      { copyOf: oidOf(8) },
      [{ importedFrom: undefined }],
      { kind: 'create', target: { topic: 'auth-refresh-2' } },
    ],
    ['after one just made', {}, [{ tip: undefined }], { kind: 'update' }],
  ])('%s', (_, more, topics, expected) => {
    const related = topics.map((topic) => ({ ...known, ...topic }));
    expect(decidePlacement({ ...incoming, ...more }, related, me)).toMatchObject(expected);
  });

  it('has no place if every number is taken', () => {
    const all = Array.from({ length: 50 }, (_, at) => ({
      ...known,
      importedFrom: undefined,
      topic: (at === 0 ? 'auth-refresh' : `auth-refresh-${at + 1}`) as Topic,
    }));
    expect(decidePlacement(incoming, all, me)).toMatchObject({
      kind: 'no-name',
      target: { topic: incoming.topic, tip: undefined },
    });
  });

  it('is searched for by name on its branch, and by file anywhere', () => {
    const old = 'old' as BranchName;
    const other = { ...known, branch: old, topic: 'x-y' as Topic };
    const written = { ...other, importedFrom: undefined };
    const all = [known, second, other, written, { ...second, branch: old, importedFrom: undefined }];
    expect(candidates(incoming, all, false)).toEqual([known, second, other]);
    expect(candidates(incoming, all, true)).toEqual([known, second]);
  });
});

describe('the name of a file in a commit', () => {
  it.each([
    ['a b.md', 'guard:a%20b.md'],
    ['a\nHandoff-State: closed', 'guard:a%0AHandoff-State:%20closed'],
    ['\ud800', 'guard:%EF%BF%BD'],
    ['Über.md', 'guard:%C3%9Cber.md'],
  ])('%j is %s', (place, name) => {
    expect(sourceName('guard', place)).toBe(name);
  });

  it.each(['a/handover.md', 'a/.handover/now.md', 'a/.handover/archive/2026-11-01.md'])(
    'a handover and its archived texts count as one file: %s',
    (place) => expect(sourceName('handover', place)).toBe('handover:a/handover.md'),
  );
});
