import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AutomaticFacts,
  automaticNote,
  automaticSummary,
  automaticTopic,
  codeSpan,
} from '../../src/domain/automatic-note.ts';
import { type Oid, type SessionId, parseTopic } from '../../src/domain/names.ts';
import { noteSections } from '../../src/domain/note/sections.ts';
import { escapeLine } from '../../src/domain/messages.ts';
import { anyText } from '../support/any-text.ts';

const OID = 'a'.repeat(40) as Oid;
const FACTS: AutomaticFacts = {
  session: 'aaaaaaaa-1111-4111-8111-111111111111' as SessionId,
  client: 'claude',
  reason: 'session-end',
  proven: false,
  branch: 'main',
  worktree: undefined,
  startHead: null,
  head: OID,
  commits: [{ oid: OID, subject: 'Add it' }],
  paths: ['src/a.ts', 'b c'],
  deleted: [],
  untracked: [],
};
const first = (facts: Partial<AutomaticFacts>) => automaticNote({ ...FACTS, ...facts }).split('\n')[0];

/** The content of a CommonMark code span, by the specification; `undefined` if the text is not exactly one code span. */
function readSpan(span: string): string | undefined {
  const fence = /^`+/.exec(span)?.[0] ?? '';
  const runs = [...span.matchAll(/`+/g)].filter(([run]) => run.length === fence.length);
  const end = runs[1]?.index;
  if (fence === '' || end === undefined || end + fence.length !== span.length) return undefined;
  const inner = span.slice(fence.length, end);
  return /^ .*[^ ].* $/.test(inner) ? inner.slice(1, -1) : inner;
}

describe('an automatic note', () => {
  it('suggests git diff only for files that git knows', () => {
    const next = (facts: Partial<AutomaticFacts>) =>
      noteSections(automaticNote({ ...FACTS, commits: [], ...facts })).nextAction;
    expect(next({ untracked: ['b c'] })).toMatch(/- `git handoff status`\n- `git diff HEAD -- src\/a\.ts`$/);
    expect(next({ untracked: ['src/a.ts', 'b c'] })).toMatch(/- `git handoff status`$/);
    expect(automaticNote({ ...FACTS, untracked: ['b c'] })).toContain('  - `b c` (new)\n');
  });

  it('says everything known, under the headings of a handover', () => {
    expect(noteSections(automaticNote(FACTS))).not.toHaveProperty('goal');
    expect(noteSections(automaticNote(FACTS))).toMatchObject({
      importantFiles: '- `src/a.ts`\n- `b c`',
      state: [
        '- Session: `aaaaaaaa-1111-4111-8111-111111111111`',
        '- Branch: `main`',
        '- HEAD when it began: no commit yet',
        '- HEAD at this note: `aaaaaaaaaa`',
        '- Commits of the session: 1',
        '  - `aaaaaaaaaa` `Add it`',
        '- Uncommitted paths of the session: 2',
        '  - `src/a.ts`',
        '  - `b c`',
      ].join('\n'),
    });
  });

  it.each([
    [{ reason: 'session-end' }, 'ended without a handoff'],
    [{ reason: 'compaction' }, 'before its context was compacted'],
    [{ reason: 'death', proven: true }, 'died without a handoff'],
    [{ reason: 'death', proven: false }, 'went silent and left no handoff'],
  ] as const)('%j: its first line says so', (facts, text) => {
    expect(first(facts)).toBe(`# Automatic note: claude aaaaaaaa ${text}`);
  });

  it('counts what is too much to list', () => {
    const paths = Array.from({ length: 33 }, (_, n) => `file-${n}`);
    const commits = Array.from({ length: 12 }, () => ({ oid: OID, subject: 's'.repeat(300) }));
    const { state = '', importantFiles = '' } = noteSections(automaticNote({ ...FACTS, paths, commits }));
    expect(importantFiles.split('\n')).toHaveLength(31);
    expect(importantFiles).toContain('- and 3 more');
    expect(state).toContain('  - and 2 more');
    expect(Math.max(...state.split('\n').map((line) => line.length))).toBeLessThan(240);
  });

  it('names commands that can be typed', () => {
    const next = (facts: Partial<AutomaticFacts>) =>
      noteSections(automaticNote({ ...FACTS, ...facts })).nextAction;
    expect(next({})).toContain("- `git --literal-pathspecs diff HEAD -- src/a.ts 'b c'`");
    expect(next({ head: null, paths: ['a'] })).toContain('- `git diff -- a`');
    expect(next({ paths: Array.from({ length: 6 }, String) })).toContain('- `git diff HEAD`');
    expect(next({ paths: ['caf\ufffd'] })).toContain('- `git diff HEAD`');
  });

  it('keeps its form whatever names and subjects contain', () => {
    const hostile = fc.oneof(
      anyText(),
      fc
        .array(fc.constantFrom('`', '``', ' ', '\n', '# Goal', '## Next Action', '```', 'x', '\u202e', '-'))
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 4 }), hostile, hostile, (paths, subject, worktree) => {
        const facts = {
          ...FACTS,
          branch: subject,
          worktree,
          paths,
          commits: [{ oid: OID, subject }],
        };
        const text = automaticNote(facts);
        const sections = noteSections(text);
        expect(sections.goal).toBeUndefined();
        expect(text.match(/^#.*$/gm)).toHaveLength(paths.length === 0 ? 4 : 5);
        expect(escapeLine(text.replaceAll('\n', ''))).toBe(text.replaceAll('\n', ''));
        const items = sections.importantFiles?.split('\n') ?? [];
        expect(items.map((line) => readSpan(line.slice(2)))).toEqual(
          paths
            .map((path) => escapeLine(path) || '  ')
            .map((path) => (path.trim() === '' ? expect.anything() : path) as string),
        );
        expect(automaticSummary(facts).length).toBeLessThanOrEqual(72);
      }),
    );
  });

  it.each(['compaction', 'session-end', 'death'] as const)('has an uncut summary: %s', (reason) => {
    const many = {
      reason,
      commits: Array.from({ length: 20 }, () => FACTS.commits[0]!),
      paths: Array<string>(99).fill('x'),
    };
    expect(automaticSummary({ ...FACTS, ...many })).toMatch(/; 99 paths uncommitted, 20 commits$/);
  });
});

describe('a code span', () => {
  it('cannot be escaped from', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.stringMatching(/^[` x]{1,12}$/)), (text) => {
        const line = escapeLine(text);
        const read = readSpan(codeSpan(text));
        expect(read?.trim()).toBe(line.trim());
        if (line.trim() !== '') expect(read).toBe(line);
      }),
    );
  });
});

describe('the topic of a session', () => {
  const topic = (id: string) =>
    automaticTopic(id as SessionId, (text) => createHash('sha256').update(text).digest('hex'));

  it('is made of the id that messages show, or of a hash', () => {
    expect(topic('5D5FC789-c243-451b-8292-9bfe02b939a8')).toBe('session-5d5fc789');
    expect(topic('01a1fba2-e09f-7542-a66b-d84706f9779c')).toBe('session-06f9779c');
    expect(topic('sess-aaaaaaaa-1111')).toMatch(/^session-[0-9a-f]{12}$/);
    expect(topic('sess-aaaaaaaa-1111')).not.toBe(topic('sess-aaaaaaaa-2222'));
  });

  it('is valid for any id', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/), (id) => {
        expect(parseTopic(topic(id))).toBe(topic(id));
      }),
    );
  });
});
