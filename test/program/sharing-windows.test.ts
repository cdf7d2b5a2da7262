import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { putToken } from '../../src/sessions/bypass.ts';
import { A, B, C, SharingWorld, TEN, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
afterEach(() => world.remove());

/** The last claim of a session on each path, as `path evidence [weak]`. */
function claims(session: string): string[] {
  const lines = world.ledger(session).filter(({ t }) => t === 'claim' || t === 'end');
  const last = new Map(lines.map((line) => [String(line['path']), line]));
  return [...last.values()]
    .filter(({ t }) => t === 'claim')
    .map(({ path, evidence, weak }) => `${String(path)} ${String(evidence)}${weak === true ? ' weak' : ''}`)
    .sort();
}

/** A command that changes files without naming them. */
const UNNAMED = (path: string, text = 'made\\n') =>
  `echo "require('fs').writeFileSync(process.argv[1], '${text}')" > /dev/null; node -e "require('fs').writeFileSync(atob('${Buffer.from(path).toString('base64')}'), '${text}')"`;

describe('what a shell command changed', () => {
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
  });

  it('is the session’s: new, changed and deleted files, named or not', () => {
    world.bash(B, UNNAMED('gen.txt'));
    world.bash(B, UNNAMED('src/b.ts'));
    world.bash(B, 'rm shared.md');
    expect(claims(B)).toEqual(['gen.txt window', 'shared.md named', 'src/b.ts window']);
    expect(refusal(world.write(A, 'gen.txt', 'x'))).toContain('claude bbbbbbbb');
  });

  it('leaves no loose object in the repository', () => {
    const count = () => world.git(['count-objects']);
    // The session of a copied world is recorded again, which writes an object. Its start does that now, before the count.
    world.begin(B);
    const before = count();
    world.bash(B, UNNAMED('gen.txt'));
    world.write(B, 'src/b.ts', 'x\n');
    expect(count()).toBe(before);
  });

  it('takes no lock and leaves the index as it is', () => {
    writeFileSync(join(world.path, '.git', 'index.lock'), '');
    world.bash(B, UNNAMED('gen.txt'));
    expect(claims(B)).toEqual(['gen.txt window']);
    expect(world.locks()).toEqual([join(world.path, '.git', 'index.lock')]);
  });

  it('in the other session’s file leaves that file to its owner: a formatter owns nothing', () => {
    world.write(A, 'src/a.ts', 'one\n');
    const { after } = world.bash(B, UNNAMED('src/a.ts', 'formatted\\n'));
    expect(contextText(after)).toContain(
      'src/a.ts changed while the command ran: claude aaaaaaaa had uncommitted work there. Tell the user. A rescue holds the work',
    );
    expect(claims(B)).toEqual(['src/a.ts window']);
    expect(world.as(A, ['commit', '-qam', 'a'])).toMatchObject({ status: 0 });
  });

  it('in a file that a person had changed stays nobody’s', () => {
    writeFileSync(join(world.path, 'shared.md'), 'by hand\n');
    world.bash(B, UNNAMED('shared.md', 'formatted\\n'));
    expect(claims(B)).toEqual([]);
  });

  it('does not take what the other session’s tools did meanwhile', () => {
    const id = { tool_use_id: 'long' };
    const input = { tool_name: 'Bash', tool_input: { command: 'npm test' } };
    world.guard({ session_id: B, hook_event_name: 'PreToolUse', ...input, ...id });
    world.write(A, 'src/a.ts', 'one\n');
    world.guard({ session_id: B, hook_event_name: 'PostToolUse', ...input, ...id });
    expect(claims(B)).toEqual([]);
    expect(claims(A)).toEqual(['src/a.ts explicit']);
  });

  it('only warns when another session’s command ran at the same time', () => {
    const call = (session: string, event: string, id: string) =>
      world.guard({
        session_id: session,
        hook_event_name: event,
        tool_name: 'Bash',
        tool_input: { command: 'npm test' },
        tool_use_id: id,
      });
    call(A, 'PreToolUse', 'a');
    call(B, 'PreToolUse', 'b');
    writeFileSync(join(world.path, 'gen.txt'), 'x\n');
    call(B, 'PostToolUse', 'b');
    call(A, 'PostToolUse', 'a');
    expect(claims(B)).toEqual(['gen.txt window weak']);
    expect(world.write(A, 'gen.txt', 'y\n').kind).toBe('context');
  });

  it('only warns when another session’s command ran for a part of the time', () => {
    const call = (session: string, event: string, id: string) =>
      world.guard({
        session_id: session,
        hook_event_name: event,
        tool_name: 'Bash',
        tool_input: { command: 'npm test' },
        tool_use_id: id,
      });
    call(B, 'PreToolUse', 'b');
    call(A, 'PreToolUse', 'a');
    call(A, 'PostToolUse', 'a');
    // A process that A’s command left behind might have written this file.
    writeFileSync(join(world.path, 'gen.txt'), 'x\n');
    call(B, 'PostToolUse', 'b');
    expect(claims(B)).toEqual(['gen.txt window weak']);
  });

  it('ends when it is committed, in the same command or later', () => {
    world.bash(B, `${UNNAMED('gen.txt')} && git add gen.txt && git commit -qm gen`);
    expect(claims(B)).toEqual([]);
    world.bash(B, UNNAMED('gen2.txt'));
    world.bash(B, 'git add gen2.txt && git commit -qm gen2');
    expect(claims(B)).toEqual([]);
    expect(
      world.git(['log', '--format=%(trailers:key=Claude-Session-Id,valueonly)', '-2']).match(/b{8}/g),
    ).toHaveLength(2);
  });

  it('is known from Claude Code’s report if nobody looked before', () => {
    const file = join(world.path, 'told.txt');
    writeFileSync(file, 'x\n');
    world.guard({
      session_id: B,
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'gen' },
      tool_use_id: 'unseen',
      tool_response: {
        stdout: '',
        bashEditDiff: { files: [{ filePath: file, hunks: [], created: true }], moreFiles: 0 },
      },
    });
    expect(claims(B)).toEqual(['told.txt window']);
  });
});

describe('a second session that arrives', () => {
  beforeEach(() => {
    world = new SharingWorld();
  });

  it('leaves to the first session what that one has changed, by whatever means', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'one\n');
    world.bash(A, UNNAMED('gen.txt'));
    world.begin(B);
    expect(claims(A)).toEqual(['gen.txt since-start', 'src/a.ts since-start']);
    expect(refusal(world.write(B, 'gen.txt', 'x'))).toContain(
      'claude aaaaaaaa or the user changed it and has not committed it',
    );
  });

  it('does so even if it arrives with its first tool call', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'one\n');
    expect(refusal(world.write(B, 'src/a.ts', 'two\n'))).toContain('claude aaaaaaaa');
  });

  it('makes nobody the owner of what was dirty before any session began', () => {
    writeFileSync(join(world.path, 'shared.md'), 'by hand\n');
    writeFileSync(join(world.path, 'note.txt'), 'by hand\n');
    world.begin(A);
    world.bash(A, 'git stash -q -u; git stash pop -q');
    world.begin(B);
    expect(claims(A)).toEqual([]);
    expect(world.write(B, 'note.txt', 'x\n').kind).toBe('silent');
    expect(world.bash(B, 'git add -A && git commit -qm all').run).toMatchObject({ status: 0 });
  });

  it('leaves to the first session what that one’s running command still changes', () => {
    world.begin(A);
    const command = { tool_name: 'Bash', tool_input: { command: 'npm run gen' }, tool_use_id: 'g' };
    world.guard({ session_id: A, hook_event_name: 'PreToolUse', ...command });
    world.begin(B);
    writeFileSync(join(world.path, 'gen.txt'), 'x\n');
    world.guard({ session_id: A, hook_event_name: 'PostToolUse', ...command });
    expect(claims(A)).toEqual(['gen.txt window']);
  });

  it.each([
    { client: 'cursor', start: 'sessionStart', before: 'preToolUse', after: 'postToolUse', tool: 'Shell' },
    {
      client: 'gemini',
      start: 'SessionStart',
      before: 'BeforeTool',
      after: 'AfterTool',
      tool: 'run_shell_command',
    },
    {
      client: 'opencode',
      start: 'chat.message',
      before: 'tool.execute.before',
      after: 'tool.execute.after',
      tool: 'bash',
    },
  ])(
    'what a running command of a $client session does counts for it, too',
    ({ client, start, before, after, tool }) => {
      const call = (hook_event_name: string, more: object = {}) => {
        const ids = { session_id: A, conversation_id: A, cwd: world.path, workspace_roots: [world.path] };
        const input = JSON.stringify({ ...ids, hook_event_name, ...more });
        expect(world.handoff(['guard', '--client', client], { input })).toMatchObject({
          status: 0,
          stderr: '',
        });
      };
      const command = { tool_name: tool, tool_input: { command: 'npm run gen' }, tool_use_id: 'g' };
      call(start, { source: 'startup' });
      call(before, command);
      world.begin(B);
      writeFileSync(join(world.path, 'gen.txt'), 'x\n');
      call(after, { ...command, tool_output: '', tool_response: { exit: 0 } });
      expect(claims(A)).toEqual(['gen.txt window']);
    },
  );

  it('does so again after the first session was alone for a while', () => {
    world.begin(A);
    world.begin(B);
    world.write(A, 'src/a.ts', 'one\n');
    world.end(B);
    world.begin(A);
    world.bash(A, UNNAMED('gen.txt'));
    world.begin(C);
    expect(claims(A)).toEqual(['gen.txt since-start', 'src/a.ts explicit']);
    expect(refusal(world.write(C, 'src/a.ts', TEN + 'x'))).toContain('claude aaaaaaaa');
  });
});

describe('another session’s work that a command made disappear', () => {
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'one\n');
    world.write(B, 'src/b.ts', 'two\n');
  });

  it('into a commit that a person has allowed: neither is told to undo it', () => {
    putToken(join(world.path, '.git'), { v: 1, session: null, at: Date.now() });
    const { run, after } = world.bash(B, 'git add -A && git commit -qm all');
    expect(run).toMatchObject({ status: 0 });
    expect(run?.stderr).toContain('warning: a person let this through once');
    expect(contextText(after)).toBe('');
    const text = contextText(world.may(A, 'make'));
    expect(text).toContain('A person let claude bbbbbbbb past a refusal of ');
    expect(text).not.toContain('undo');
  });

  it('by a script that stashes: both are told', () => {
    const { before, after } = world.bash(
      B,
      `node -e "require('child_process').execSync(atob('Z2l0IHN0YXNo'))"`,
    );
    expect(before.kind).toBe('silent');
    expect(contextText(after)).toContain(
      'src/a.ts went back to what HEAD has: claude aaaaaaaa had uncommitted work there',
    );
    expect(contextText(world.may(A, 'make'))).toContain('claude bbbbbbbb discarded the changes in src/a.ts');
  });

  it('by a commit that no hook saw: both are told', () => {
    // A script that the guard does not read.
    writeFileSync(join(world.root, 'all.sh'), 'git -c core.hooksPath=/dev/null commit -qam all\n');
    const { after } = world.bash(B, 'sh ../all.sh');
    expect(contextText(after)).toContain(
      'src/a.ts went into your commit: claude aaaaaaaa had uncommitted work there',
    );
    expect(contextText(world.may(A, 'make'))).toContain(
      'A command of claude bbbbbbbb committed or removed your uncommitted changes in src/a.ts',
    );
    const undo = /git reset [0-9a-f]{12}/.exec(contextText(after))?.[0] ?? '';
    expect(world.bash(B, undo).run).toMatchObject({ status: 0 });
    expect(world.status()).toContain(' M src/a.ts');
    expect(world.git(['log', '--format=%s', '-1'])).not.toBe('all');
  });

  it('is not blamed on a session if its owner committed it meanwhile', () => {
    const call = (event: string) =>
      world.guard({
        session_id: B,
        hook_event_name: event,
        tool_name: 'Bash',
        tool_input: { command: 'npm test' },
        tool_use_id: 'long',
      });
    call('PreToolUse');
    world.bash(A, 'git commit -qm a -- src/a.ts');
    expect(call('PostToolUse').stdout).not.toContain('went into your commit');
  });
});

describe('a change of the mode', () => {
  it('is the session’s like any other', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.bash(A, 'chmod +x src/a.ts');
    expect(claims(A)).toEqual([expect.stringMatching(/^src\/a\.ts (?:window|named)$/)]);
    world.write(B, 'src/b.ts', 'two\n');
    expect(world.as(B, ['commit', '-qam', 'b']).status).not.toBe(0);
  });
});

describe('a file that is named like an option', () => {
  it('is read, and so are the others', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.bash(A, 'echo 1 > ./-x; echo 2 > y');
    const states = world.ledger(A).flatMap(({ path, after }) => (path === undefined ? [] : [[path, after]]));
    const read = { mode: '100644', oid: expect.stringMatching(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/) as string };
    expect(states).toEqual([
      ['-x', read],
      ['y', read],
    ]);
  });
});

describe('a working tree that is reached by a symbolic link', () => {
  it('is the same working tree', () => {
    world = new SharingWorld();
    const link = `${world.root}/link`;
    world.run('ln', ['-s', world.path, link]);
    world.begin(A);
    world.begin(B, link);
    world.write(A, 'src/a.ts', 'one\n');
    expect(refusal(world.may(B, 'echo x > a.ts', `${link}/src`))).toContain('claude aaaaaaaa');
    expect(refusal(world.may(B, 'git stash', link))).toContain('claude aaaaaaaa');
    expect(refusal(world.write(B, 'src/a.ts', 'x\n', link))).toContain('claude aaaaaaaa');
  });
});

describe('a conversation that continues after /clear', () => {
  it('keeps its work under its new id', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'one\n');
    world.guard({ session_id: A, hook_event_name: 'SessionEnd', reason: 'clear' });
    world.guard({ session_id: C, hook_event_name: 'SessionStart', source: 'clear' });
    expect(refusal(world.write(B, 'src/a.ts', 'two\n'))).toContain('claude aaaaaaaa');
    expect(world.bash(B, 'git add -A && git commit -qm sweep').run?.status).not.toBe(0);
    expect(world.write(C, 'src/a.ts', 'three\n').kind).toBe('silent');
  });
});

describe('a command that makes more files than can be read in time', () => {
  it('owns them all the same', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.bash(B, 'mkdir m; for i in $(seq 700); do echo $i > m/$i; done');
    expect(claims(B)).toHaveLength(700);
    expect(world.bash(A, 'git add -A && git commit -qm sweep').run?.status).not.toBe(0);
  });
});
