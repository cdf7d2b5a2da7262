import { describe, expect, it } from 'vitest';
import { isPerson, ownerName, parseClientSessionId, peerNames } from '../../src/domain/names.ts';
import { renderDeletedNote } from '../../src/verbs/delete/delete.ts';
import { renderSync } from '../../src/verbs/sync/sync.ts';

const SESSION = 'aaaaaaaa-1111-4111-8111-111111111111';
const PERSON = 'person-0123456789ab';

describe('a message names', () => {
  it.each([
    ['a session by its client', SESSION, { client: 'codex' }, 'codex aaaaaaaa'],
    [
      'a sub-agent beside its session',
      `${SESSION}/a7a1647f4c5f67f3e`,
      { client: 'claude' },
      'claude aaaaaaaa/7f3e',
    ],
    ['a sub-agent with a short id', `${SESSION}/agent-x`, { client: 'claude' }, 'claude aaaaaaaa/agent-x'],
    ['a session whose client no record tells', SESSION, {}, 'session aaaaaaaa'],
    ['a session whose client could not be found out', SESSION, { client: 'unknown' }, 'session aaaaaaaa'],
    ['a person by name', PERSON, { name: 'Ann Example', client: 'claude' }, 'Ann Example'],
    ['a person whose name is not known, without the hash', PERSON, {}, 'a person'],
    ['a person with a name that could steer a terminal', PERSON, { name: '\u001b[31mAnn' }, '\\u{1b}[31mAnn'],
  ])('%s', (_, id, known, text) => {
    expect(ownerName(id, known)).toBe(text);
  });

  it('several sessions, each once', () => {
    const clients = new Map([[SESSION, 'claude']]);
    expect(peerNames([SESSION, 'bbbbbbbb-2', SESSION], { clients })).toBe(
      'claude aaaaaaaa, session bbbbbbbb',
    );
  });

  it('a session whose short id is in a commit’s trailer', () => {
    expect(peerNames(['aaaaaaaa'], { clients: new Map([[SESSION, 'claude']]) })).toBe('claude aaaaaaaa');
  });
});

describe('the id of a person', () => {
  it.each([PERSON, 'person-01234567', 'person-bob'])('is %s, which no client may claim', (id) => {
    expect(isPerson(id)).toBe(true);
    expect(parseClientSessionId(id)).toBeUndefined();
    expect(ownerName(id)).toBe('a person');
  });

  it('is not in what sync prints', () => {
    const item = {
      ...{ action: 'followed', remote: 'origin', branch: 'main', topic: 'auth-refresh', ref: '' },
      ...{ oid: null, former: null, lost: null, why: null },
      ...{ owner: PERSON, ownerText: 'Ann Example', newOwner: SESSION, newOwnerText: 'claude aaaaaaaa' },
    } as Parameters<typeof renderSync>[0]['items'][number];
    const remotes = [{ remote: 'origin', url: '/srv', same: 0 }];
    expect(renderSync({ dryRun: false, items: [item], remotes })).toContain(
      'claude aaaaaaaa was first, Ann Example no longer owns it: git handoff show main/auth-refresh',
    );
  });

  it('is not in what purge prints', () => {
    const value = {
      ...{ branch: 'main', topic: 'auth-refresh', ref: '', owner: PERSON, ownerText: 'Ann Example' },
      ...{
        items: [],
        remotes: [],
        stillOn: [],
        deleted: false,
        remains: null,
        command: 'git handoff delete x',
      },
    };
    expect(renderDeletedNote(value)).toContain('It belongs to Ann Example.\n');
  });
});
