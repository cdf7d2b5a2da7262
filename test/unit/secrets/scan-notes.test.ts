import { describe, expect, it } from 'vitest';
import { type LeavingNote, scanNotes } from '../../../src/verbs/sync/leaving-notes.ts';
import { refuseLeaving } from '../../../src/verbs/sync/leaving-notes.ts';
import type { BranchName, Oid } from '../../../src/domain/names.ts';
import { encodeBranch } from '../../../src/git/namespace.ts';
import { SECRETS, TOKEN, TOKEN_RULE } from '../../support/secrets.ts';

const oid = (digit: string) => digit.repeat(40) as Oid;

function leaving(topic: string, blob: string, text: string, allowed: readonly string[] = []): LeavingNote {
  const note = Buffer.from(text);
  return { ref: `refs/handoffs/main/${topic}`, commit: oid(blob), oid: oid(blob), note, allowed };
}

const refsOf = async (notes: LeavingNote[]) => (await scanNotes(notes, 'deny')).map(({ ref }) => ref);

describe('the notes that a push would take along', () => {
  it('are told by ref, commit and finding', async () => {
    const notes = [leaving('fine-note', 'a', '# Goal\n'), leaving('bad-note', 'b', `x\n${TOKEN}\n`)];
    expect(await scanNotes(notes, 'warn')).toEqual([
      {
        ref: 'refs/handoffs/main/bad-note',
        commit: oid('b'),
        oid: oid('b'),
        findings: [{ rule: TOKEN_RULE, line: 2, mask: 'ghp_… (40 characters)' }],
      },
    ]);
  });

  it('come one by one as well', async () => {
    const stream = (async function* () {
      yield leaving('bad-note', 'b', TOKEN);
    })();
    expect(await scanNotes(stream, 'deny')).toHaveLength(1);
  });

  it('are not read when the scan is off', async () => {
    const note = () => {
      throw new Error('was read');
    };
    const unread = Object.defineProperty(leaving('bad-note', 'b', ''), 'note', { get: note });
    expect(await scanNotes([unread], 'off')).toEqual([]);
  });

  it('go when the commit records the rule, and only that one', async () => {
    const both = `${TOKEN}\n${SECRETS['slack/SLACK_TOKEN']}`;
    expect(await refsOf([leaving('bad-note', 'b', TOKEN, [TOKEN_RULE])])).toEqual([]);
    const [left] = await scanNotes([leaving('bad-note', 'b', both, [TOKEN_RULE])], 'deny');
    expect(left?.findings.map(({ rule }) => rule)).toEqual(['slack/SLACK_TOKEN']);
  });

  it('with the same text: allowed in one of its commits, before or after, is allowed', async () => {
    const open = leaving('one-note', 'b', TOKEN);
    const allowed = leaving('two-note', 'b', TOKEN, [TOKEN_RULE]);
    expect(await refsOf([open, allowed])).toEqual([]);
    expect(await refsOf([allowed, open])).toEqual([]);
  });

  it('of an older commit of the chain count for themselves', async () => {
    const older = leaving('one-note', 'b', `${TOKEN}\nolder`);
    const tip = leaving('one-note', 'c', TOKEN, [TOKEN_RULE]);
    expect(await scanNotes([tip, older], 'deny')).toMatchObject([{ commit: oid('b') }]);
  });

  it('of one blob are all told, and the blob is scanned once', async () => {
    const first = leaving('one-note', 'b', TOKEN);
    // The same name is the same text: the second is not looked at.
    const second = { ...leaving('two-note', 'b', ''), note: Buffer.from('') };
    expect(await refsOf([first, second])).toEqual([first.ref, second.ref]);
  });
});

describe('what is said of refs that would take a secret along', () => {
  const told = (notes: LeavingNote[]) =>
    scanNotes(notes, 'deny').then((found) =>
      refuseLeaving(found, 'git handoff sync --push origin --allow-secret'),
    );

  it('names each ref once, with its versions, and no more of the secret than the mask', async () => {
    const versions = ['1', '2', '3', '4', '5'].map((blob) => leaving('one-note', blob, `${TOKEN}\n${blob}`));
    const refusals = await told([...versions, leaving('two-note', '1', TOKEN)]);
    expect(refusals).toEqual([
      {
        ref: 'refs/handoffs/main/one-note',
        why: expect.stringMatching(
          /^main\/one-note looks like it contains a secret: (?:at \d{12} line 1: [^;]+; ){3}and in 2 more versions$/,
        ) as string,
        hint: `git handoff show main/one-note --at ${oid('1')}; if it is not a secret: git handoff sync --push origin --allow-secret`,
      },
      expect.objectContaining({ ref: 'refs/handoffs/main/two-note' }),
    ]);
    expect(JSON.stringify(refusals)).not.toContain(TOKEN.slice(0, 5));
  });

  it('is nothing when nothing was found', async () => {
    expect(await told([leaving('one-note', 'a', '# Goal\n')])).toEqual([]);
  });

  it('spells the branch as people do', async () => {
    const note = {
      ...leaving('one-note', 'b', TOKEN),
      ref: `refs/handoffs/${encodeBranch('feat/x' as BranchName)}/one-note`,
    };
    expect((await told([note]))[0]?.why).toContain('feat/x/one-note looks like');
  });
});
