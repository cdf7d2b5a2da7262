import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Schema, violations } from '../support/json-schema.ts';
import type { Run } from '../support/repository.ts';
import { A, B, C, refusal, contextText } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld({ ready: [A, B] });
  world.write(A, 'shared.md', 'of A\n');
});
afterEach(() => world.remove());

const folder = () => join(world.path, '.git', 'handoff', 'allow');
const tokens = () =>
  existsSync(folder()) ? readdirSync(folder()).filter((name) => !['used'].includes(name)) : [];

/** A person types the command in a real pseudo-terminal, and answers. */
function typed(command: string, answer: string): { status: number; screen: string } {
  const line = `${command}; echo "status $?"`;
  const { stdout } = world.atTerminal(line, { input: answer });
  return { status: Number(/status (\d+)/.exec(stdout)?.[1]), screen: stdout };
}

function allow(words = ''): void {
  const { status, screen } = typed(`git handoff allow --once${words}`, 'yes\n');
  expect(status, screen).toBe(0);
  expect(tokens()).toHaveLength(1);
}

/** Writes a token as the verb leaves it, for cases that a person could not type in time. */
function leaveToken(fields: object): void {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(
    join(folder(), 'token'),
    `${JSON.stringify({ v: 1, session: null, at: Date.now(), ...fields })}\n`,
  );
}

const logged = (kind: string) =>
  world
    .guardLog()
    .split('\n')
    .filter((line) => line.includes(`"kind":"${kind}"`))
    .map((line) => JSON.parse(line) as { session: string; detail: string });

/** A call of B that is refused: it would change what A has not committed. */
const bWrites = () => world.write(B, 'shared.md', 'of B\n');

describe('allow --once', () => {
  it('needs a terminal: a session cannot give it to itself', () => {
    for (const session of [undefined, B]) {
      const options = session === undefined ? { input: 'yes\n' } : { session, input: 'yes\n' };
      const { status, stderr } = world.handoff(['allow', '--once'], options);
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: 'error: only a person can type this, in a terminal of their own\n',
      });
    }
    expect(tokens()).toEqual([]);
    const text = refusal(world.may(B, 'script -qec "git handoff allow --once" /dev/null <<<yes'));
    expect(text).toContain('Only a person may run `git handoff allow`');
    refusal(world.may(B, 'git handoff allow --once'));
    leaveToken({});
    refusal(world.may(B, 'git handoff allow --once'));
    expect(world.may(B, 'git handoff allow -h').kind).toBe('silent');
  });

  it.each([
    ['no', 1],
    ['y', 1],
    ['', 1],
    ['\u0004', 1],
  ])('allows nothing when the answer is %j', (answer, expected) => {
    const { status, screen } = typed(
      'git handoff allow --once',
      answer === '\u0004' ? answer : `${answer}\n`,
    );
    expect({ status, screen }).toMatchObject({ status: expected });
    expect(screen).toContain('error: nothing was allowed');
    expect(tokens()).toEqual([]);
  });

  it('needs --once, and a session on record if one is named', () => {
    expect(typed('git handoff allow', 'yes\n')).toMatchObject({ status: 2 });
    const unknown = typed('git handoff allow --once --session nobody', 'yes\n');
    expect(unknown.status).toBe(1);
    expect(unknown.screen).toContain('no session is on record as nobody');
    expect(tokens()).toEqual([]);
  });

  it('names the session as everywhere else', () => {
    const { screen } = typed(`git handoff allow --once --session ${B.slice(0, 8)}`, 'yes\n');
    expect(screen).toContain(
      'The next refused action of claude bbbbbbbb will go through if it comes within 10 minutes',
    );
    expect(screen).toContain('allowed once, for claude bbbbbbbb, until');
  });

  it('answers in JSON', () => {
    const { screen } = typed(
      `git handoff allow --once --json --session ${B.slice(0, 8)} 2>/dev/null`,
      'yes\n',
    );
    const answer = JSON.parse(/\{.*\}/.exec(screen)?.[0] ?? '{}') as object;
    expect(answer).toMatchObject({ schema: 1, ok: true, session: B });
    const file = new URL('../../schema/output.schema.json', import.meta.url);
    const schema = JSON.parse(readFileSync(file, 'utf8')) as Schema;
    expect(violations(schema, answer, 'allow')).toEqual([]);
  });
});

describe('a refusal that a person allowed', () => {
  it('is allowed once, logged, and reported to the session whose work it is', () => {
    refusal(bWrites());
    allow();
    expect(bWrites().kind).toBe('silent');
    expect(world.read('shared.md')).toBe('of B\n');
    expect(tokens()).toEqual([]);
    expect(existsSync(folder())).toBe(false);
    expect(logged('allow')).toHaveLength(1);
    expect(logged('bypass')).toMatchObject([{ session: B }]);
    expect(logged('bypass')[0]?.detail).toContain('shared.md');
    const news = contextText(world.bash(A, 'touch mine.txt').before);
    expect(news).toContain(`A person allowed claude ${B.slice(0, 8)} one refused action: Write`);
    expect(contextText(world.bash(A, 'touch mine.txt').before)).toBe('');
    expect(world.claimed(B)).toContain('shared.md');
    world.git(['checkout', '-q', '--', 'shared.md']);
    world.write(A, 'src/a.ts', 'of A\n');
    refusal(world.write(B, 'src/a.ts', 'of B\n'));
  });

  it('never mentions this verb', () => {
    for (const text of [refusal(bWrites()), refusal(world.may(B, 'git checkout -- shared.md'))])
      expect(text).not.toMatch(/allow --once|handoff allow|bypass/);
    world.git(['add', 'shared.md']);
    expect(world.refused(B, ['commit', '-qm', 'x'])).not.toMatch(/handoff allow|bypass/);
  });

  it('lets the git hooks inside that call pass, too, but no later ones', () => {
    allow(` --session ${B}`);
    const { before, run } = world.bash(B, 'git checkout -- shared.md; echo b >> src/b.ts; git add src/b.ts');
    expect(before.kind).not.toBe('deny');
    expect(run?.status).toBe(0);
    world.write(A, 'shared.md', 'of A again\n');
    allow();
    const both = world.bash(
      B,
      'git restore src/b.ts --staged; git stash -q -- shared.md && git stash pop -q; git commit -qam both',
    );
    expect(both.run).toMatchObject({ status: 0 });
    expect(world.changed()).toEqual(['shared.md', 'src/b.ts']);
    expect(world.git(['log', '-1', '--format=%B'])).toContain(B);
    world.write(A, 'shared.md', 'once more\n');
    world.git(['add', 'shared.md']);
    expect(errorsOf(world.refused(B, ['commit', '-qm', 'x'])).join('\n')).toContain('shared.md');
  });

  it('is allowed for one git process, whichever of its hooks asks', () => {
    world.git(['add', 'shared.md']);
    world.refused(B, ['commit', '-qm', 'x']);
    allow();
    expect(world.commits(B, ['-m', 'mixed'])).toMatch(
      /^warning: a person let this through once: .*shared\.md/m,
    );
    expect(world.changed()).toEqual(['shared.md']);
    expect(logged('bypass')).toHaveLength(1);
    expect(contextText(world.bash(A, 'touch mine.txt').before)).toMatch(
      /past a refusal of (?:pre-commit|prepare-commit-msg) once/,
    );
    world.write(A, 'shared.md', 'of A again\n');
    world.git(['add', 'shared.md']);
    world.refused(B, ['commit', '-qm', 'y']);
    allow();
    expect(world.commits(B, ['--no-verify', '-m', 'unverified'])).toContain('let this through once');
  });

  it('does not allow what changes who the session is', () => {
    allow();
    refusal(world.may(B, 'CLAUDE_CODE_SESSION_ID=x git commit -m x'));
    refusal(world.may(B, `git handoff write my-topic -m x --session ${A}; echo x > shared.md`));
    expect(tokens()).toHaveLength(1);
  });

  it('does not let bookkeeping leak', () => {
    const remote = join(world.root, 'remote.git');
    world.git(['init', '-q', '--bare', remote]);
    allow();
    const push = world.as(B, ['push', '-q', remote, '--mirror']);
    expect(push.status).toBe(1);
    expect(push.stderr).toContain('is the bookkeeping of this machine');
    expect(tokens()).toHaveLength(1);
  });

  it('lets a refused push pass', () => {
    const remote = join(world.root, 'remote.git');
    world.git(['init', '-q', '--bare', remote]);
    const message = `x\n\nClaude-Session-Id: ${A}\nClaude-Session-Id: ${B}`;
    world.git(['commit', '-q', '--allow-empty', '-m', message], { env: { GIT_HANDOFF: 'off' } });
    expect(world.as(B, ['push', '-q', remote, 'main'])).toMatchObject({ status: 1 });
    allow();
    const push = world.as(B, ['push', '-q', remote, 'main']);
    expect({ status: push.status, stderr: push.stderr }).toMatchObject({ status: 0 });
    expect(push.stderr).toContain('let this through once');
  });

  it('leaves a handoff file as the allowed command made it', () => {
    const memory = join(world.home, '.claude', 'projects', 'p', 'memory');
    const file = join(memory, 'handoff-main-auth-refresh.md');
    mkdirSync(memory, { recursive: true });
    const text = `<!-- claude-session: ${A} -->\nnotes\n`;
    writeFileSync(file, text);
    world.end(B);
    world.begin(B);
    const command = `echo more >> '${file}'`;
    refusal(world.may(B, command));
    allow();
    expect(world.bash(B, command).run).toMatchObject({ status: 0 });
    expect(readFileSync(file, 'utf8')).toBe(`${text}more\n`);
    allow();
    expect(world.bash(B, `rm '${file}'`).run).toMatchObject({ status: 0 });
    world.bash(B, 'true handoff');
    expect(existsSync(file)).toBe(false);
  });
});

describe('a token', () => {
  it.each<[string, () => object]>([
    ['that is ten minutes old', () => ({ at: Date.now() - 10 * 60_000 })],
    ['of tomorrow', () => ({ at: Date.now() + 86_400_000 })],
    ['of another session', () => ({ session: C })],
    ['of a later version', () => ({ v: 2 })],
    ['without a session', () => ({ session: undefined })],
    ['of no time', () => ({ at: 'now' })],
  ])('%s allows nothing', (_what, fields) => {
    leaveToken(fields());
    refusal(bWrites());
    world.git(['add', 'shared.md']);
    world.refused(B, ['commit', '-qm', 'x']);
    expect(tokens()).toEqual(['token']);
  });

  it('that is not a file allows nothing', () => {
    mkdirSync(join(folder(), 'token'), { recursive: true });
    refusal(bWrites());
  });

  it('for this session is used before one for anybody', () => {
    leaveToken({});
    allowBeside({ session: B });
    expect(bWrites().kind).toBe('silent');
    expect(tokens()).toEqual(['token']);
  });

  function allowBeside(fields: object): void {
    writeFileSync(
      join(folder(), 'second'),
      `${JSON.stringify({ v: 1, session: null, at: Date.now(), ...fields })}\n`,
    );
  }

  it('is used by one of two calls that need it at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      leaveToken({});
      const call = (number: number): Promise<Run> =>
        world.startGuard({
          session_id: B,
          hook_event_name: 'PreToolUse',
          tool_name: 'Write',
          tool_input: { file_path: join(world.path, 'shared.md'), content: 'of B\n' },
          tool_use_id: `toolu_${round}_${number}`,
        });
      const answers = await Promise.all([call(1), call(2), call(3)]);
      const denied = answers.filter(({ stdout }) => stdout.includes('"deny"'));
      expect(denied).toHaveLength(2);
      expect(tokens()).toEqual([]);
    }
  });

  it('counts for a call that two hooks ask about at once', async () => {
    leaveToken({});
    const payload = {
      session_id: B,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: join(world.path, 'shared.md'), content: 'of B\n' },
      tool_use_id: 'toolu_same',
    };
    const answers = await Promise.all([world.startGuard(payload), world.startGuard(payload)]);
    expect(answers.filter(({ stdout }) => stdout.includes('"deny"'))).toEqual([]);
  });

  it('used by a call that never ran is void at the next call', () => {
    leaveToken({});
    expect(world.may(B, 'git checkout -- shared.md').kind).not.toBe('deny');
    const [used = ''] = readdirSync(join(folder(), 'used', B));
    const file = join(folder(), 'used', B, used);
    const record = JSON.parse(readFileSync(file, 'utf8')) as { at: number };
    writeFileSync(file, JSON.stringify({ ...record, at: record.at - 6000 }));
    world.git(['add', 'shared.md']);
    expect(world.may(B, 'echo something else').kind).not.toBe('deny');
    expect(existsSync(file)).toBe(false);
    world.refused(B, ['commit', '-qm', 'x']);
  });
});
