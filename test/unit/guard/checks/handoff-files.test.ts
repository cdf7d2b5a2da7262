import type { ToolCall } from '../../../../src/agents/dialect.ts';
import { codex } from '../../../../src/agents/codex.ts';
import type { SessionId } from '../../../../src/domain/names.ts';
import { COMMANDS_ANYWHERE } from '../../../../src/guard/checks/of-commands.ts';
import { FILES_ANYWHERE } from '../../../../src/guard/checks/of-files.ts';
import { PEER, SELF, refuses, table, tells } from '../../../support/guard-table.ts';

const folder = '~/.claude/projects/app/memory';
const note = `${folder}/handoff-main-auth-refresh.md`;
const owned = (owner: string) => ({ [note]: `<!-- claude-session: ${owner} -->\nold\n` });
const unmarked = { [note]: 'old\n' };
const write = (path: string, content = 'text\n'): ToolCall => ({ kind: 'write', path, content });
const refused = (words: string | string[], owners: SessionId[] = []) => [
  refuses(words, { allowedBy: 'files', owners }),
];
const ref = refuses('behind git-handoff', { owners: undefined });
const rewritten = { kind: 'rewrite', content: `<!-- claude-session: ${SELF} -->\ntext\n` };

table(FILES_ANYWHERE, 'handoff-files', [
  [
    'another session’s note is replaced',
    { tool: write(note), files: owned(PEER) },
    refused(['Foreign session owns', PEER.slice(0, 8)], [PEER]),
  ],
  ['one’s own is', { tool: write(note), files: owned(SELF) }, [rewritten]],
  ['a new note gets its first line', { tool: write(note) }, [rewritten]],
  [
    'a client that cannot rewrite is told the line',
    { tool: write(note), client: codex },
    refused(['missing or wrong ownership marker', `claude-session: ${SELF}`]),
  ],
  [
    'a new note is like one that is there',
    { tool: write(note), files: { [`${folder}/handoff-main-auth-refresh-v2.md`]: '' } },
    [rewritten, tells('Sibling-overlap notice', 'handoff-main-auth-refresh-v2.md')],
  ],
  ['its name is no note’s', { tool: write(`${folder}/handoff-main.md`) }, refused('rejected by grammar')],
  [
    'a note that nobody marked is edited',
    { tool: { kind: 'edit', path: note }, files: unmarked },
    refused('no ownership marker'),
  ],
  ['a note is edited by its owner', { tool: { kind: 'edit', path: note }, files: owned(SELF) }, []],
  [
    'an edit would change the owner',
    { tool: { kind: 'edit', path: note, edits: [{ from: SELF, to: PEER, all: false }] }, files: owned(SELF) },
    refused('missing or wrong ownership marker', [SELF]),
  ],
  [
    'a patch creates a note without the line',
    { tool: { kind: 'patch', files: [{ path: note, change: 'add', firstLine: 'text' }] } },
    refused('missing or wrong ownership marker'),
  ],
  ['a loose ref is written', { tool: write('.git/refs/handoffs/main/x') }, [ref]],
  ['any other file is', { tool: write('src/a.ts') }, []],
  ['the guard is switched off', { tool: write(note), files: owned(PEER), settings: { enabled: false } }, []],
]);
table(COMMANDS_ANYWHERE, 'handoff-files', [
  [
    'a command writes another session’s note',
    { command: `echo x >${note}`, files: owned(PEER) },
    refused('Foreign session owns', [PEER]),
  ],
  [
    'it writes one that nobody marked',
    { command: `echo x >${note}`, files: unmarked },
    refused('The shell command would change the handoff file'),
  ],
  [
    'it removes a folder with one',
    { command: `rm -r ${folder}`, files: owned(PEER) },
    refused('handoff-main-auth-refresh.md', [PEER]),
  ],
  ['it removes one’s own', { command: `rm ${note}`, files: owned(SELF) }, []],
  ['it only reads', { command: `cat ${note}`, files: owned(PEER) }, []],
  ['it removes a loose ref', { command: 'rm .git/refs/handoffs/main/x' }, [ref]],
  ['it writes the packed refs', { command: 'echo x >.git/packed-refs' }, [ref]],
  ['it writes another file', { command: 'echo x >src/a.ts' }, []],
]);
