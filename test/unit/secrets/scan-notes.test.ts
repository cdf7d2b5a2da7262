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

describe('secrets in the notes that a push would include', () => {
  it('are reported by ref, commit and finding', async () => {
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

  it('can also be read one by one', async () => {
    const stream = (async function* () {
      yield leaving('bad-note', 'b', TOKEN);
    })();
    expect(await scanNotes(stream, 'deny')).toHaveLength(1);
  });

  it('are not searched for if the scan is off', async () => {
    const note = () => {
      throw new Error('was read');
    };
    const unread = Object.defineProperty(leaving('bad-note', 'b', ''), 'note', { get: note });
    expect(await scanNotes([unread], 'off')).toEqual([]);
  });

  it('are allowed if the commit records their rule, and only that rule', async () => {
    const both = `${TOKEN}\n${SECRETS['slack/SLACK_TOKEN']}`;
    expect(await refsOf([leaving('bad-note', 'b', TOKEN, [TOKEN_RULE])])).toEqual([]);
    const [left] = await scanNotes([leaving('bad-note', 'b', both, [TOKEN_RULE])], 'deny');
    expect(left?.findings.map(({ rule }) => rule)).toEqual(['slack/SLACK_TOKEN']);
  });

  it('are allowed in a text that any of its commits, before or after, allows', async () => {
    const open = leaving('one-note', 'b', TOKEN);
    const allowed = leaving('two-note', 'b', TOKEN, [TOKEN_RULE]);
    expect(await refsOf([open, allowed])).toEqual([]);
    expect(await refsOf([allowed, open])).toEqual([]);
  });

  it('in older commits of the chain are judged separately', async () => {
    const older = leaving('one-note', 'b', `${TOKEN}\nolder`);
    const tip = leaving('one-note', 'c', TOKEN, [TOKEN_RULE]);
    expect(await scanNotes([tip, older], 'deny')).toMatchObject([{ commit: oid('b') }]);
  });

  it('in one blob are all reported, and the blob is scanned once', async () => {
    const first = leaving('one-note', 'b', TOKEN);
    // Equal object names mean equal texts, so the second is not read.
    const second = { ...leaving('two-note', 'b', ''), note: Buffer.from('') };
    expect(await refsOf([first, second])).toEqual([first.ref, second.ref]);
  });
});

describe('the report on refs that would include a secret', () => {
  const told = (notes: LeavingNote[]) => scanNotes(notes, 'deny').then(refuseLeaving);

  it('names each ref once, with its versions, and only the mask of the secret', async () => {
    const versions = ['1', '2', '3', '4', '5'].map((blob) => leaving('one-note', blob, `${TOKEN}\n${blob}`));
    const refusals = await told([...versions, leaving('two-note', '1', TOKEN)]);
    expect(refusals).toEqual([
      {
        ref: 'refs/handoffs/main/one-note',
        why: expect.stringMatching(
          /^main\/one-note looks like it contains a secret: (?:at \d{12} line 1: [^;]+; ){3}and in 2 more versions$/,
        ) as string,
      },
      expect.objectContaining({ ref: 'refs/handoffs/main/two-note' }),
    ]);
    expect(JSON.stringify(refusals)).not.toContain(TOKEN.slice(0, 5));
  });

  it('is empty if nothing was found', async () => {
    expect(await told([leaving('one-note', 'a', '# Goal\n')])).toEqual([]);
  });

  it('spells the branch as people write it', async () => {
    const note = {
      ...leaving('one-note', 'b', TOKEN),
      ref: `refs/handoffs/${encodeBranch('feat/x' as BranchName)}/one-note`,
    };
    expect((await told([note]))[0]?.why).toContain('feat/x/one-note looks like');
  });
});
