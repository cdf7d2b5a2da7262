import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { detectFormat, exportHeader, readExported } from '../../../src/domain/formats/texts.ts';
import { markerOwner } from '../../../src/domain/marker.ts';
import type { BranchName, Topic } from '../../../src/domain/names.ts';
import { anyText } from '../../support/any-text.ts';
import { oidOf, sessionOf } from '../../support/chain.ts';

const origin = { topic: 'auth-refresh' as Topic, oid: oidOf(1), owner: sessionOf('a') };
const facts = { head: undefined, updated: '2026-05-07T12:00:00Z' };
const branches = ['main', 'feature/login', 'a-->b', 'Über/日本', "it's!", '50%', 'x%2Fy'] as BranchName[];

describe('the header of an exported file', () => {
  it.each(['markdown', 'guard', 'handover'] as const)('can be read and removed again: %s', (format) => {
    fc.assert(
      fc.property(anyText(), fc.constantFrom(...branches), (note, branch) => {
        const header = exportHeader({ ...origin, branch, format }, facts);
        const read = readExported(header + note);
        const owner = format === 'guard' ? origin.owner : undefined;
        expect(read).toEqual({ ...origin, owner, branch, format, noteAt: header.length });
        expect((header + note).slice(read?.noteAt)).toBe(note);
        expect(header.split('\n')[0]?.match(/-->/g)).toHaveLength(format === 'guard' ? 2 : 1);
      }),
    );
  });

  it('begins with the marker for claude-handoff-guard', () => {
    expect(markerOwner(exportHeader({ ...origin, branch: branches[0]!, format: 'guard' }, facts))).toBe(
      origin.owner,
    );
  });

  it.each([
    '',
    '# x',
    '<!-- git-handoff: a copy of main/auth-refresh at 12. x -->\n',
    `<!-- git-handoff: a copy of main/wip at ${oidOf(1)}. x -->\n`,
    `<!-- git-handoff: a copy of %E0%A4/auth-refresh at ${oidOf(1)}. x -->\n`,
    `<!-- git-handoff: a copy of main/auth-refresh at ${oidOf(1)}. x -->`,
    `<!-- git-handoff: a copy of main/auth-refresh at ${oidOf(1)}, a handover. x -->\nno note\n`,
    ` <!-- git-handoff: a copy of main/auth-refresh at ${oidOf(1)}. x -->\n`,
  ])('is none: %j', (text) => {
    expect(readExported(text)).toBeUndefined();
  });
});

describe('the format of a file', () => {
  it.each([
    ['x.md', '<!-- claude-session: a -->\n', 'guard'],
    ['handoff-main-auth-refresh.md', '# x\n', 'guard'],
    ['handoff-main.md', '# x\n', 'markdown'],
    ['handover.md', '', 'handover'],
    ['x.md', '# Handover\n## Metadata\n## Goal\n## Next Action\n', 'handover'],
    ['x.md', '# Goal\n# Next Action\n', 'markdown'],
    ['handover.md', "---\nhandoff_id: 'x'\ntopic: y\n---\n", 'structured'],
    ['x.md', '---\ntitle: y\n---\n', 'markdown'],
  ])('%s with %j is %s', (name, text, format) => {
    expect(detectFormat(name, text)).toBe(format);
  });
});
