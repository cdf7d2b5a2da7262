import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN, contextText, refusal } from '../support/sharing-world.ts';

/** Two sub-agents of A, with ids in Claude Code's form. */
const X = `${A}/a7a1647f4c5f67f3e`;
const Y = `${A}/a91b0c22d4e8f01b2`;
/** A sub-agent that begins later. */
const Z = `${A}/ac0ffee0c0ffee002`;

let world: SharingWorld;
afterEach(() => world.remove());

const committed = (cwd = world.path) =>
  world.git(['show', '--format=', '--name-only', 'HEAD'], { cwd }).split('\n').filter(Boolean);

/** Only A is here, with two sub-agents at work. */
function twoAgents(options: ConstructorParameters<typeof SharingWorld>[0] = {}): void {
  world = new SharingWorld({ ready: [A], ...options });
  world.beginAgent(X);
  world.beginAgent(Y);
}

describe('two sub-agents of a session that is alone', () => {
  beforeEach(() => twoAgents());

  it('do not change each other’s files while they run', () => {
    world.edit(X, 'src/a.ts', 'line 1', 'by x');
    expect(refusal(world.try(Y, 'src/a.ts', 'y\n'))).toMatchInlineSnapshot(
      `"src/a.ts: claude aaaaaaaa/7f3e changed it just now and has not committed it. Nothing was changed. claude aaaaaaaa/7f3e will be told. Work on something else, and try again later. If you cannot go on without it, ask the user."`,
    );
    expect(world.write(Y, 'src/b.ts', 'y\n').kind).toBe('silent');
    expect(refusal(world.may(Y, 'sed -i s/1/2/ src/a.ts'))).toContain('claude aaaaaaaa/7f3e changed it');
    world.endAgent(X);
    expect(world.write(Y, 'src/a.ts', 'y\n').kind).toBe('silent');
  });

  it('commit no more than their own part, and then the main agent commits all', () => {
    world.edit(X, 'src/a.ts', 'line 1', 'by x');
    world.write(Y, 'new.md', 'y\n');
    const { run } = world.bash(X, 'git add -A && git commit -qm mine');
    expect(run?.status).toBe(1);
    expect(run?.stderr).toMatchInlineSnapshot(`
      "error: new.md: claude aaaaaaaa/01b2 changed it just now and has not committed it
      hint: git handoff commit -m mine -- src/a.ts
      "
    `);
    const hint = /^hint: (.*)$/m.exec(run?.stderr ?? '')?.[1] ?? '';
    expect(world.bash(X, hint).run).toMatchObject({ status: 0 });
    expect(committed()).toEqual(['src/a.ts']);
    world.edit(X, 'shared.md', 'line 5', 'by x');
    world.endAgent(X);
    world.endAgent(Y);
    expect(world.bash(A, 'git add -A && git commit -qm all').run).toMatchObject({ status: 0, stderr: '' });
    expect(committed()).toEqual(['new.md', 'shared.md']);
  });

  it('separate their hunks in a file that both have changed', () => {
    world.edit(X, 'src/a.ts', 'line 1\n', 'by x\n');
    // No hook runs before this tool, as in some editors.
    world.wrote(Y, 'src/a.ts', world.read('src/a.ts').replace('line 9', 'by y'));
    expect(world.bash(Y, "git handoff commit -m 'mine of y'").run).toMatchObject({ status: 0 });
    expect(world.git(['show', 'HEAD:src/a.ts'])).toBe(TEN.replace('line 9', 'by y').trimEnd());
    expect(world.bash(X, "git handoff commit -m 'mine of x'").run).toMatchObject({ status: 0 });
    expect(world.git(['show', 'HEAD:src/a.ts'])).toBe(world.read('src/a.ts').trimEnd());
  });

  it('may not run a command over the whole tree beside each other', () => {
    world.write(X, 'src/a.ts', 'x\n');
    world.write(Y, 'src/b.ts', 'y\n');
    for (const command of ['git stash', 'git reset --hard', 'git checkout .', 'git switch -c other'])
      expect(refusal(world.may(Y, command))).toContain('uncommitted work of claude aaaaaaaa/7f3e: src/a.ts');
    expect(refusal(world.may(Y, 'git reset --hard'))).toContain(
      'git restore --source=HEAD --staged --worktree -- src/b.ts',
    );
    expect(contextText(world.may(A, 'git stash'))).toMatchInlineSnapshot(`
      "git-handoff: \`git stash\` may stash away uncommitted work of claude aaaaaaaa/7f3e, a running sub-agent of this session: src/a.ts.
      git-handoff: \`git stash\` may stash away uncommitted work of claude aaaaaaaa/01b2, a running sub-agent of this session: src/b.ts."
    `);
  });

  it('hear what the other was refused', () => {
    world.write(X, 'src/a.ts', 'x\n');
    world.try(Y, 'src/a.ts', 'y\n');
    expect(contextText(world.may(A, 'make'))).not.toContain('wants to edit');
    expect(contextText(world.may(X, 'make'))).toContain('claude aaaaaaaa/01b2 wants to edit src/a.ts');
  });

  it('are known to other sessions by name', () => {
    world.write(X, 'src/a.ts', 'x\n');
    world.begin(B);
    expect(refusal(world.try(B, 'src/a.ts', 'b\n'))).toContain('src/a.ts: claude aaaaaaaa/7f3e changed it');
    expect(world.ok(['status'], { session: B })).toContain('Of claude aaaaaaaa/7f3e (live):');
    expect(world.whose(B)).toEqual({ 'src/a.ts': `other ${X}` });
    world.endAgent(X);
    expect(world.ok(['status'], { session: B })).toContain('Of claude aaaaaaaa (live):');
  });

  it('leave to their session what was changed before they began', () => {
    world.endAgent(X);
    world.endAgent(Y);
    world.write(A, 'src/a.ts', 'a\n');
    world.beginAgent(X);
    world.beginAgent(Y);
    expect(world.write(X, 'src/a.ts', 'x\n').kind).not.toBe('deny');
    expect(world.write(Y, 'src/a.ts', 'y\n').kind).toBe('deny');
  });

  it('are no owners with handoff.subAgents=session', () => {
    world.git(['config', 'handoff.subAgents', 'session']);
    world.write(X, 'src/a.ts', 'x\n');
    world.endAgent(X);
    world.beginAgent(X);
    world.write(X, 'src/a.ts', 'xx\n');
    expect(world.write(Y, 'src/a.ts', 'y\n').kind).not.toBe('deny');
    expect(world.bash(Y, 'git add -A && git commit -qm both').run).toMatchObject({ status: 0 });
  });
});

describe('where HEAD is, to two sub-agents of a session', () => {
  const clock = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;
  const switched = 'claude aaaaaaaa/7f3e switched this working tree from main to feat/x.';
  beforeEach(() => twoAgents());

  it.each([
    ['runs', () => undefined],
    ['has ended', () => world.endAgent(X)],
  ])('a commit on the branch of a sibling that %s is refused', (_, then) => {
    world.bash(X, 'git switch -qc feat/x');
    then();
    expect(contextText(world.wrote(Y, 'new.md', 'y\n'))).toBe(`git-handoff: ${switched}`);
    const commit = 'git add new.md && git commit -qm y';
    const { run } = world.bash(Y, commit);
    expect(run?.status).toBe(1);
    expect(run?.stderr.replace(clock, '<time>')).toMatchInlineSnapshot(`
      "error: this session was on main, but the worktree is on feat/x now: claude aaaaaaaa/7f3e switched it at <time>
      hint: git switch main
      "
    `);
    expect(world.bash(Y, 'git switch main').run).toMatchObject({ status: 0 });
    expect(world.bash(Y, commit).run).toMatchObject({ status: 0, stderr: '' });
    expect(world.git(['log', '-1', '--format=%s', 'main'])).toBe('y');
  });

  it('the main agent hears of the switch, and commits', () => {
    world.bash(X, 'git switch -qc feat/x');
    expect(contextText(world.wrote(A, 'new.md', 'a\n'))).toBe(`git-handoff: ${switched}`);
    const { run } = world.bash(A, 'git add new.md && git commit -qm a');
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });

  it('they hear of the main agent’s switch, and may follow it', () => {
    world.bash(A, 'git switch -qc feat/a');
    expect(contextText(world.wrote(Y, 'new.md', 'y\n'))).toBe(
      'git-handoff: claude aaaaaaaa switched this working tree from main to feat/a.',
    );
    const { run } = world.bash(Y, 'git add new.md && git commit -qm y');
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });

  it('a new sub-agent knows what its session knew at that time, and hears nothing older', () => {
    world.bash(X, 'git switch -qc feat/x');
    world.endAgent(X);
    world.beginAgent(Z);
    world.write(Z, 'new.md', 'z\n');
    const { before, run } = world.bash(Z, 'git add new.md && git commit -qm z');
    expect(before.kind).toBe('silent');
    expect(run).toMatchObject({ status: 0, stderr: '' });
    for (const agent of [Z, Y]) world.endAgent(agent);
    // X has ended, and continues unannounced. It is told nothing, because its session knows everything.
    expect(contextText(world.may(X, 'make'))).toBe('');
  });

  it('a sub-agent in the background still hears of a switch after the user has typed', () => {
    world.bash(X, 'git switch -qc feat/x');
    world.prompt(A);
    expect(contextText(world.may(Y, 'git commit --allow-empty -m y'))).toBe(`git-handoff: ${switched}`);
    expect(world.as(A, ['commit', '--allow-empty', '-m', 'y']).stderr).toContain(
      'this session was on main, but',
    );
  });
});

describe('news for one sub-agent', () => {
  it.each(['is started', 'calls'])('reaches it after it has ended and %s again', (how) => {
    world = new SharingWorld({ ready: [A, B] });
    world.beginAgent(X);
    world.write(X, 'src/a.ts', 'x\n');
    const loss = { t: 'news', id: 'n1', text: 'Ann threw it away', to: X, about: 'loss' } as const;
    world.note(B, { ...loss, paths: ['src/a.ts'], at: Date.now() });
    world.endAgent(X);
    if (how === 'is started') world.beginAgent(X);
    expect(contextText(world.may(X, 'make'))).toContain('Ann threw it away');
  });
});

describe('a sub-agent’s first call in another worktree', () => {
  it('tells it nothing that happened before', () => {
    world = new SharingWorld({ ready: [A] });
    const other = join(world.root, 'other');
    world.git(['worktree', 'add', '-q', other, '-b', 'other']);
    world.begin(A, other);
    world.begin(B, other);
    world.beginAgent(X);
    world.may(X, 'make');
    world.bash(B, 'git commit -q --allow-empty -m b', { cwd: other });
    expect(contextText(world.may(A, 'make', other))).toContain('committed');
    expect(contextText(world.may(X, 'make', other))).not.toContain('committed');
  });
});

describe('the commit of one agent of a session', () => {
  const heard = (owner: string) => contextText(world.may(owner, 'make'));
  beforeEach(() => {
    twoAgents();
    world.begin(B);
  });

  it.each([
    ['a sub-agent', X, 'claude aaaaaaaa/7f3e', [Y, B]],
    ['the main agent', A, 'claude aaaaaaaa', [X, Y, B]],
  ])('by %s is told once to each of the others', (_, by, name, others) => {
    world.bash(by, "git commit -q --allow-empty -m 'next'");
    const oid = world.git(['rev-parse', '--short=7', 'HEAD']);
    for (const other of others) {
      expect(heard(other)).toBe(`git-handoff: ${name} committed ${oid} on main.`);
      expect(heard(other)).toBe('');
    }
    // The main agent reads this in its sub-agent's report.
    for (const other of [by, A]) expect(heard(other)).toBe('');
  });

  it('is attributed to that agent, even if a sibling’s command beside it ends first', () => {
    const event = (owner: string, hook_event_name: string, command: string) => {
      const [session_id, agent_id] = owner.split('/');
      const tool = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `toolu_of_${agent_id}` };
      world.guard({ session_id, agent_id, agent_type: 'general-purpose', hook_event_name, ...tool });
    };
    world.beginAgent(Z);
    world.write(X, 'src/a.ts', 'x\n');
    event(Y, 'PreToolUse', 'make');
    event(X, 'PreToolUse', 'git commit -qam next');
    expect(world.as(A, ['commit', '-qam', 'next'])).toMatchObject({ status: 0 });
    event(Y, 'PostToolUse', 'make');
    expect(heard(Z)).not.toContain('committed');
    event(X, 'PostToolUse', 'git commit -qam next');
    expect(heard(Z)).toContain('claude aaaaaaaa/7f3e committed');
  });
});

describe('the main agent', () => {
  beforeEach(() => twoAgents());

  it('hears what a running sub-agent has changed, and is never refused', () => {
    world.write(X, 'src/a.ts', 'x\n');
    expect(contextText(world.write(A, 'src/a.ts', 'a\n'))).toMatchInlineSnapshot(
      `"git-handoff: src/a.ts was changed just now by claude aaaaaaaa/7f3e, a running sub-agent of this session, and is not committed. Read it before you change it."`,
    );
    expect(world.write(A, 'src/a.ts', 'aa\n').kind).toBe('silent');
    const { run } = world.bash(A, 'git add -A && git commit -qm all');
    expect(run).toMatchObject({ status: 0 });
    expect(run?.stderr).toMatchInlineSnapshot(`
      "warning: this commit includes changes of claude aaaaaaaa/7f3e, a running sub-agent: src/a.ts
      "
    `);
  });

  it('commits its own changes with git handoff commit, and the paths that it names', () => {
    world.write(X, 'src/a.ts', 'x\n');
    world.write(A, 'src/b.ts', 'a\n');
    expect(world.bash(A, 'git handoff commit -m own').run).toMatchObject({ status: 0 });
    expect(committed()).toEqual(['src/b.ts']);
    expect(world.bash(A, 'git handoff commit -m theirs -- src/a.ts').run).toMatchObject({ status: 0 });
    expect(committed()).toEqual(['src/a.ts']);
  });
});

describe('a sub-agent whose end nobody reported', () => {
  beforeEach(() => twoAgents());

  it('has ended when the user types, and runs again when it calls', () => {
    world.write(X, 'src/a.ts', 'x\n');
    expect(world.may(A, 'make').kind).toBe('silent');
    expect(world.try(Y, 'src/a.ts', 'y\n').kind).toBe('deny');
    world.prompt(A);
    expect(world.try(Y, 'src/a.ts', 'y\n').kind).not.toBe('deny');
    world.may(X, 'make');
    expect(world.try(Y, 'src/a.ts', 'y\n').kind).toBe('deny');
  });

  it('has ended with its session', () => {
    world.write(X, 'src/a.ts', 'x\n');
    world.begin(B);
    world.end(A);
    expect(world.whose(B)).toEqual({ 'src/a.ts': `left ${A}` });
  });
});

describe('two sub-agents that commit at the same time', () => {
  beforeEach(() => twoAgents());

  it('are told apart by a variable before the later command', () => {
    world.write(X, 'src/a.ts', 'x\n');
    world.write(Y, 'src/b.ts', 'y\n');
    const command = 'git add src/b.ts && git commit -qm y';
    expect(world.may(X, 'git commit -qam x').kind).toBe('silent');
    const answer = world.bash(Y, command);
    expect(answer.before).toMatchObject({
      kind: 'rewrite',
      input: { command: `export GIT_HANDOFF_AGENT=${Y.split('/')[1] ?? ''}; ${command}` },
    });
    expect(answer.run).toMatchObject({ status: 0, stderr: '' });
    expect(committed()).toEqual(['src/b.ts']);
    // X's command came first, so it got no variable.
    world.write(Y, 'src/b.ts', 'yy\n');
    const other = world.as(A, ['commit', '-qam', 'x']);
    expect(other.stderr).toContain('claude aaaaaaaa/01b2');
    expect(world.as(A, ['commit', '-qm', 'x', '--', 'src/a.ts'])).toMatchObject({ status: 0 });
  });

  it('do not take another one’s name', () => {
    expect(refusal(world.may(X, 'GIT_HANDOFF_AGENT=a91b0c22d4e8f01b2 git commit -m x'))).toContain(
      'changes GIT_HANDOFF_AGENT, which tells git-handoff whose work this is',
    );
  });
});

describe('a session that works alone', () => {
  const isLone = () => existsSync(join(world.path, '.git', 'handoff-solo'));
  beforeEach(() => {
    world = new SharingWorld({ ready: [A] });
  });

  it('keeps a ledger only while a sub-agent runs', () => {
    world.write(A, 'src/a.ts', 'a\n');
    expect([isLone(), world.claimed(A)]).toEqual([true, []]);
    world.beginAgent(X);
    world.beginAgent(Y);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
    writeFileSync(join(world.path, 'by-hand'), '');
    world.write(Y, 'src/b.ts', 'y\n');
    expect(world.bash(X, 'git add by-hand && git commit -qm hand').run).toMatchObject({
      status: 0,
      stderr: '',
    });
    world.endAgent(X);
    expect(isLone()).toBe(false);
    world.endAgent(Y);
    expect(isLone()).toBe(true);
    world.write(A, 'src/a.ts', 'aa\n');
    world.write(A, 'new', 'a\n');
    expect(world.claimed(A)).toEqual(['src/a.ts', 'src/b.ts']);
    world.begin(B);
    const mine = Object.fromEntries(['src/a.ts', 'src/b.ts', 'new'].map((path) => [path, `other ${A}`]));
    expect(world.whose(B)).toEqual(mine);
    world.ok(['undo'], { session: A });
    expect(world.status()).toEqual([]);
  });

  it('keeps a ledger while its own command runs: otherwise what the command has changed so far would be nobody’s', () => {
    world.beginAgent(X);
    world.may(A, 'make');
    writeFileSync(join(world.path, 'made'), 'a\n');
    world.endAgent(X);
    expect(isLone()).toBe(false);
    expect(world.ok(['diff'], { session: A })).toContain('+++ b/made');
  });

  it('does not come back if a sub-agent’s end is reported after its own', () => {
    world.beginAgent(X);
    world.end(A);
    world.endAgent(X);
    expect(isLone()).toBe(false);
    expect(world.json(['sessions', '--all'])).toMatchObject({ items: [{ liveness: 'ended' }] });
  });
});
