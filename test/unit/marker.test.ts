import { describe, expect, it } from 'vitest';
import { decideGuardedChange } from '../../src/notes/guarded-files.ts';
import {
  type MarkerAct,
  type MarkerDecision,
  decideMarkerFile,
  isMarkerFileName,
  markerFileName,
  markerLine,
  markerOwner,
  overlappingFiles,
  withMarker,
} from '../../src/domain/marker.ts';
import { sessionOf } from '../support/chain.ts';

const [a, b] = [sessionOf('a'), sessionOf('b')];
const NAME = 'handoff-main-auth-refresh.md';

describe('the files of the predecessor', () => {
  it.each([
    ['/h/.claude/projects/p/memory/handoff-main-auth-refresh.md', NAME],
    ['/h/.claude/projects/p/memory/handoff-x', 'handoff-x'],
    ['/h/.claude/projects/p/Memory/Handoff-x', 'Handoff-x'],
    ['/h/.claude/projects/p/memory/notes.md', undefined],
    ['/h/.claude/projects/p/memory/handoff-archive', undefined],
    ['/h/.claude/projects/p/q/memory/handoff-main-a-b.md', undefined],
    ['/h/.claude/projects/p/memory/handoff-archive/handoff-main-a-b.md', undefined],
    ['/h/memory/handoff-main-a-b.md', undefined],
  ])('%s is %s', (path, name) => expect(markerFileName(path)).toBe(name));

  it.each([
    [NAME, true],
    ['handoff-main-auth.md', false],
    ['handoff-auth-refresh-.md', false],
    ['handoff-Main-auth-refresh.md', false],
    ['handoff-main-auth-refresh.md.bak', false],
    ['handoff-main-auth-refresh.txt', false],
  ])('the name %s has the form: %s', (name, good) => expect(isMarkerFileName(name)).toBe(good));

  it('overlap if the first two meaningful words after the prefix are the same', () => {
    const siblings = [NAME, 'handoff-main-auth-refresh-retry.md', 'handoff-dev-auth-tokens.md', 'notes.md'];
    expect(overlappingFiles(NAME, siblings)).toEqual(['handoff-main-auth-refresh-retry.md']);
    expect(overlappingFiles('handoff-main-fix.md', ['handoff-main-the.md'])).toEqual([]);
  });
});

describe('the marker', () => {
  it.each([
    [`<!-- claude-session: ${a} -->\ntext`, a],
    [`<!--claude-session:${a}-->\r\ntext`, a],
    [`\uFEFF<!-- claude-session: ${a} -->`, a],
    [`<!-- claude-session: ${a} --> and more`, a],
    [`\n<!-- claude-session: ${a} -->`, undefined],
    [` <!-- claude-session: ${a} -->`, undefined],
    [`text\n<!-- claude-session: ${a} -->`, undefined],
    ['<!-- claude-session: -->', undefined],
    ['', undefined],
  ])('of %j names %s', (content, owner) => expect(markerOwner(content)).toBe(owner));

  it('becomes the first line, with the text’s line ends, and can then be read', () => {
    expect(withMarker('one\ntwo\n', a)).toBe(`${markerLine(a)}\none\ntwo\n`);
    expect(withMarker('one\r\ntwo', a)).toBe(`${markerLine(a)}\r\none\r\ntwo`);
    expect(withMarker('\uFEFFone', a)).toBe(`\uFEFF${markerLine(a)}\none`);
    for (const content of ['', 'x', '\uFEFFx', '\r\n']) expect(markerOwner(withMarker(content, a))).toBe(a);
  });
});

const write = (content: string): MarkerAct => ({ kind: 'write', content });
const marked = write(`${markerLine(a)}\ntext`);
const bare = write('text');
const [edit, shell, remove] = (['edit', 'shell', 'remove'] as const).map((kind): MarkerAct => ({ kind }));
const allow: MarkerDecision = { kind: 'allow' };
const insert: MarkerDecision = { kind: 'insert-marker' };
const deny = (why: string) => ({ kind: 'deny', why });

const ABSENT = Symbol('the file does not exist');

/** What session `a` may do to a file of this owner (`undefined`: a file without a marker). */
function decide(
  owner: string | undefined | typeof ABSENT,
  act: MarkerAct | undefined,
  mode: 'rewrite' | 'handshake' = 'rewrite',
) {
  const file = { name: NAME, exists: owner !== ABSENT, owner: owner === ABSENT ? undefined : owner };
  return decideMarkerFile(file, act!, a, mode);
}

describe('decideMarkerFile', () => {
  it('refuses every act on a foreign file', () => {
    for (const act of [marked, bare, edit, shell, remove]) expect(decide(b, act)).toEqual(deny('foreign'));
  });

  it('lets the owner do everything, and keeps the marker', () => {
    for (const act of [marked, edit, shell, remove]) expect(decide(a, act)).toEqual(allow);
    expect(decide(a, bare)).toEqual(insert);
    expect(decide(a, bare, 'handshake')).toEqual(deny('marker-missing'));
  });

  it('adds the marker to a new file, or asks for it', () => {
    expect(decide(ABSENT, marked)).toEqual(allow);
    expect(decide(ABSENT, bare)).toEqual(insert);
    expect(decide(ABSENT, bare, 'handshake')).toEqual(deny('marker-missing'));
  });

  it('lets nobody change a text without a marker, except to write it whole with one', () => {
    expect(decide(undefined, bare)).toEqual(deny('marker-missing'));
    expect(decide(undefined, marked)).toEqual(allow);
    expect(decide(undefined, edit)).toEqual(deny('no-marker'));
    expect(decide(undefined, shell)).toEqual(deny('shell'));
    expect(decide(undefined, remove)).toEqual(deny('no-marker'));
  });

  it('refuses to write in another session’s name', () => {
    expect(decide(ABSENT, write(`${markerLine(b)}\nx`))).toEqual(deny('marker-missing'));
  });

  it('refuses names outside the form, except temporary files that programs leave beside a note', () => {
    const odd = (name: string, act: MarkerAct) =>
      decideMarkerFile({ name, exists: false, owner: undefined }, act, a, 'rewrite');
    expect(odd('handoff-auth.md', bare)).toEqual(deny('grammar'));
    expect(odd('handoff-auth.md', shell!)).toEqual(deny('grammar'));
    expect(odd('handoff-auth.md', edit!)).toEqual(deny('grammar'));
    expect(odd('handoff-main-a-b.md.bak', shell!)).toEqual(allow);
  });

  it('treats an unknown caller as owner of nothing', () => {
    const unknown = (owner: string | undefined, act: MarkerAct) =>
      decideMarkerFile({ name: NAME, exists: owner !== undefined, owner }, act, undefined, 'rewrite');
    expect(unknown(b, bare)).toEqual(deny('foreign'));
    expect(unknown(undefined, bare)).toEqual(allow);
    const unmarked = { name: NAME, exists: true, owner: undefined };
    for (const act of [edit, remove])
      expect(decideMarkerFile(unmarked, act!, undefined, 'rewrite')).toEqual(deny('no-marker'));
  });
});

describe('decideGuardedChange', () => {
  const before = `${markerLine(a)}\nbefore`;
  const change = (now: string | undefined, toldBefore = false) =>
    decideGuardedChange({ before, now, reportedBefore: toldBefore }, b);

  it.each([
    ['the owner is still named', `${markerLine(a)}\nafter`, 'tell'],
    ['another is named', `${markerLine(b)}\nafter`, 'restore'],
    ['nobody is named', 'after', 'restore'],
    ['the file is gone', undefined, 'restore'],
  ])('when %s', (_when, now, decision) => expect(change(now)).toBe(decision));

  it('accepts a change that is made again', () => expect(change('after', true)).toBe('accept'));

  it('lets the owner do anything, and anybody with what was nobody’s', () => {
    expect(decideGuardedChange({ before, now: undefined, reportedBefore: false }, a)).toBe('accept');
    expect(decideGuardedChange({ before: 'text', now: undefined, reportedBefore: false }, b)).toBe('accept');
  });

  it('treats a person as a stranger', () => {
    expect(decideGuardedChange({ before, now: undefined, reportedBefore: false }, undefined)).toBe('restore');
  });
});
