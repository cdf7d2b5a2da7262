import { describe, expect, it } from 'vitest';
import { type LeavingVersion, refuseLeaving } from '../../../src/verbs/sync/send.ts';
import type { BranchName, Oid, Topic } from '../../../src/domain/names.ts';
import { encodeBranch } from '../../../src/git/namespace.ts';
import { SECRETS, TOKEN, TOKEN_RULE } from '../../support/secrets.ts';

const oid = (digit: string) => digit.repeat(40) as Oid;

/** A version of a note, with the note's text. */
interface Leaving extends LeavingVersion {
  readonly content: Buffer;
}

/** The handoffs by name. All versions of a note belong to one handoff. */
const outgoing = new Map<string, LeavingVersion['outgoing']>();

function leaving(name: string, blob: string, text: string, allowed: readonly string[] = []): Leaving {
  const [topic, branch = 'main' as BranchName] = name.split('@') as [Topic, BranchName?];
  const path = { component: encodeBranch(branch), topic };
  const one = outgoing.get(name) ?? { path, tip: oid('f'), old: undefined };
  outgoing.set(name, one);
  const content = Buffer.from(text);
  return { outgoing: one, commit: oid(blob), oid: oid(blob), bytes: content.length, content, allowed };
}

/** The refusals, by topic. Each text is read once, as a push reads it. */
async function refusalsOf(notes: readonly Leaving[], scan: 'deny' | 'warn' = 'deny') {
  const texts = [...new Map(notes.map((note) => [note.oid, note])).values()];
  const refused = await refuseLeaving(notes, texts, scan);
  return Object.fromEntries([...refused].map(([{ path }, why]) => [path.topic, why]));
}

describe('secrets in the notes that a push would include', () => {
  it('are reported by handoff, commit and finding', async () => {
    const notes = [leaving('fine-note', 'a', '# Goal\n'), leaving('bad-note', 'b', `x\n${TOKEN}\n`)];
    const why = `main/bad-note looks like it contains a secret: at bbbbbbbbbbbb line 2: ${TOKEN_RULE}, ghp_… (40 characters)`;
    expect(await refusalsOf(notes, 'warn')).toEqual({ 'bad-note': why });
  });

  it('are allowed if the commit records their rule, and only that rule', async () => {
    const both = `${TOKEN}\n${SECRETS['slack/SLACK_TOKEN']}`;
    expect(await refusalsOf([leaving('bad-note', 'b', TOKEN, [TOKEN_RULE])])).toEqual({});
    const why = (await refusalsOf([leaving('bad-note', 'b', both, [TOKEN_RULE])]))['bad-note'];
    expect(why).toContain('line 2: slack/SLACK_TOKEN');
    expect(why).not.toContain(TOKEN_RULE);
  });

  it('are allowed in a text that any of its commits, before or after, allows', async () => {
    const open = leaving('one-note', 'b', TOKEN);
    const allowed = leaving('two-note', 'b', TOKEN, [TOKEN_RULE]);
    expect(await refusalsOf([open, allowed])).toEqual({});
    expect(await refusalsOf([allowed, open])).toEqual({});
  });

  it('in older commits of the chain are judged separately', async () => {
    const older = leaving('one-note', 'b', `${TOKEN}\nolder`);
    const tip = leaving('one-note', 'c', TOKEN, [TOKEN_RULE]);
    expect((await refusalsOf([tip, older]))['one-note']).toMatch(/secret: at b{12} [^;]*$/);
  });

  it('in one blob are all reported', async () => {
    const notes = [leaving('one-note', 'b', TOKEN), leaving('two-note', 'b', TOKEN)];
    expect(Object.keys(await refusalsOf(notes))).toEqual(['one-note', 'two-note']);
  });
});

describe('the report on refs that would include a secret', () => {
  it('names each ref once, with its versions, and only the mask of the secret', async () => {
    const versions = ['1', '2', '3', '4', '5'].map((blob) => leaving('one-note', blob, `${TOKEN}\n${blob}`));
    const refusals = await refusalsOf([...versions, leaving('two-note', '1', TOKEN)]);
    expect(refusals).toEqual({
      'one-note': expect.stringMatching(
        /^main\/one-note looks like it contains a secret: (?:at \d{12} line 1: [^;]+; ){3}and in 2 more versions$/,
      ) as string,
      'two-note': expect.any(String) as string,
    });
    expect(JSON.stringify(refusals)).not.toContain(TOKEN.slice(0, 5));
  });

  it('is empty if nothing was found', async () => {
    expect(await refusalsOf([leaving('one-note', 'a', '# Goal\n')])).toEqual({});
  });

  it('spells the branch as people write it', async () => {
    const refusals = await refusalsOf([leaving('one-note@feat/x', 'b', TOKEN)]);
    expect(refusals['one-note']).toContain('feat/x/one-note looks like');
  });
});
