import { expect, it } from 'vitest';
import { gemini } from '../../../../src/agents/gemini.ts';
import { type OpenWindow, readWindows, type WorkPlace } from '../../../../src/changes/windows.ts';
import { COMMANDS_IN_TREE } from '../../../../src/guard/checks/of-commands.ts';
import type { Finding } from '../../../../src/guard/call.ts';
import { PEER, SELF, type Situation, does, judgedBy, table, tells } from '../../../support/guard-table.ts';

table(COMMANDS_IN_TREE, 'open-window', [
  ['a command runs beside a peer', { command: 'make' }, [does('allowed')]],
  ['the session is alone', { command: 'make', peers: [] }, []],
]);

/** What is recorded about a command, and what the session is told. */
async function opened(given: Situation): Promise<{ windows: OpenWindow[]; told: readonly Finding[] }> {
  let at: WorkPlace | undefined;
  const found = await judgedBy(COMMANDS_IN_TREE, 'open-window', {
    ...given,
    arrange: (place) => (at = place),
  });
  const [effect] = found;
  if (at === undefined || effect?.kind !== 'do') throw new Error('nothing is noted');
  return { told: await effect.run(), windows: readWindows(at, SELF) };
}

const news = { ledgers: { [PEER]: [{ t: 'news', id: 'e', text: 'src/a.ts was taken', at: 1 } as const] } };

it.each<[string, Situation, Partial<OpenWindow>]>([
  [
    'what it names is its own',
    { command: 'echo x >src/a.ts' },
    { named: ['src/a.ts'], commits: false, looked: true },
  ],
  ['it commits', { command: 'git commit -m x' }, { commits: true }],
  ['a sub-agent runs it', { command: 'make', agent: 'one' }, { agent: 'one' }],
])('%s', async (_, given, window) => {
  expect((await opened(given)).windows).toMatchObject([{ session: SELF, id: 'call', ...window }]);
});

it('passes on what others have reported, if that reaches the model', async () => {
  expect((await opened({ command: 'make', ...news })).told).toEqual([
    tells('git-handoff: ', 'src/a.ts was taken'),
  ]);
  expect((await opened({ command: 'make', ...news, client: gemini })).told).toEqual([]);
});

it('tells the main agent what is only for this session', async () => {
  const taken = { t: 'news', id: 'e', text: 'src/a.ts was taken', to: SELF, at: 1 } as const;
  const given = { command: 'make', ledgers: { [PEER]: [taken] } };
  expect((await opened({ ...given, agent: 'one' })).told).toEqual([]);
  expect((await opened(given)).told).toEqual([tells('src/a.ts was taken')]);
});
