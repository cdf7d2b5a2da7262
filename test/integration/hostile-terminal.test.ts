import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { hostileCases } from '../support/hostile-cases.ts';
import { type Run, type RunOptions, TestRepository } from '../support/repository.ts';

interface TerminalCase {
  readonly id: string;
  readonly field: 'author.name' | 'author.email' | 'subject' | 'trailer.value' | 'branch' | 'remote.name';
  readonly value: string;
  readonly why: string;
}

/** Half of the cases of each field suffice: one function does all escaping, and test/unit/escaping.test.ts runs all cases. */
const all = hostileCases<TerminalCase>('terminal.json');
const cases = all.filter((one) => all.filter(({ field }) => field === one.field).indexOf(one) % 2 === 1);
/** C0 (but line feed and tab), C1, bidirectional and invisible characters. */
const STEERING = /[^\P{Cc}\n\t]|[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;
const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const REF = 'refs/handoffs/main/auth-refresh';
const KEPT = 'refs/handoffs-local/kept/main/auth-refresh';
const HOOKS = join(import.meta.dirname, '..', '..', 'git-hooks');

let repo: TestRepository;
afterEach(() => repo.remove());

/** Builds a world in which a field of a handoff, commit, branch or remote has this value. */
function build(field: TerminalCase['field'], value: string): void {
  repo = new TestRepository();
  repo.ok(['init', '--yes']);
  repo.ok(['write', 'auth-refresh', '-m', '# Goal'], { session: A });
  repo.ok(['write', 'retry-queue', '-m', field === 'subject' ? `# ${value}` : '# Other'], { session: B });
  repo.guard({ session_id: A, hook_event_name: 'SessionStart', source: 'startup' });
  const person = { name: 'Ada', email: 'ada@example.org' };
  switch (field) {
    case 'author.name':
      craft({ ...person, name: value }, `write: Goal`, 'x');
      break;
    case 'author.email':
      craft({ ...person, email: value }, `write: Goal`, 'x');
      break;
    case 'subject':
      craft(person, value, 'x');
      commitOf(`${value}\n\nClaude-Session-Id: ${A}\nClaude-Session-Id: ${B}`);
      break;
    case 'trailer.value':
      craft(person, `write: Goal`, value);
      commitOf(`subject\n\nClaude-Session-Id: ${value}\nClaude-Session-Id: ${B}\nClaude-Session-Id: ${A}`);
      break;
    case 'branch':
      writeFileSync(join(repo.path, '.git', 'HEAD'), `ref: refs/heads/${value}\n`);
      break;
    case 'remote.name': {
      const quoted = value.replaceAll('\n', '\\n');
      appendFileSync(
        join(repo.path, '.git', 'config'),
        `[remote "${quoted}"]\n\turl = /nonexistent\n\tfetch = +refs/*:refs/*\n[branch "main"]\n\tremote = "${quoted}"\n\tmerge = refs/heads/main\n`,
      );
    }
  }
}

/** Makes a commit of two sessions, without our hooks. */
function commitOf(message: string): void {
  repo.git(['commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', message], {
    env: { GIT_HANDOFF: 'off' },
  });
}

/** Makes a handoff's commit that no program of ours would write. */
function craft({ name, email }: { name: string; email: string }, subject: string, trailer: string): void {
  const tree = repo.git(['rev-parse', `${REF}^{tree}`]);
  const who = `${name} <${email}> 1767323045 +0000`;
  const trailers = [
    `Claude-Session-Id: ${A}`,
    `Handoff-Client: ${trailer}`,
    `Handoff-Agent-Id: ${trailer}`,
    'Handoff-State: open',
  ];
  const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${subject}\n\n${trailers.join('\n')}\n`;
  const commit = repo.git(['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], { input: text });
  // Bypasses git's own check of what a ref may point to.
  for (const ref of [REF, KEPT]) writeFileSync(join(repo.path, '.git', ref), `${commit}\n`);
}

/** Every view, and every message that could contain the value. */
function views(field: TerminalCase['field'], value: string): { words: readonly string[]; run: Run }[] {
  const env =
    field === 'author.name'
      ? { GIT_AUTHOR_NAME: value, GIT_COMMITTER_NAME: value }
      : field === 'author.email'
        ? { GIT_AUTHOR_EMAIL: value, GIT_COMMITTER_EMAIL: value }
        : {};
  const words: (readonly string[])[] = [
    ['list', '--all'],
    ['show', 'main/auth-refresh'],
    ['log', 'main/auth-refresh'],
    ['show', 'main/retry-queue'],
    ['status'],
    ['sessions', '--all'],
    ['check', 'HEAD'],
    ['doctor'],
    // These are refused. The value is in the arguments, or in something that the message names.
    ['write', 'main/auth-refresh', '-m', 'x'],
    ['write', `${value}/auth-refresh`, '-m', 'x'],
    ['write', value, '-m', 'x'],
    ['show', value],
    ['show', 'main/auth-refresh', '--at', value],
    ['log', `${value}/auth-refresh`],
    ['take', '--', value],
    ['status', '--', value],
    ['check', value],
    ['commit', '-m', 'x', '--', value],
    ['write', 'new-topic', '-m', 'x', `--session=${value}`],
    [value],
    ['list', `--${value}`],
    ['write', 'of-person', '-m', 'x'],
    ['take', 'main/auth-refresh'],
  ];
  const ran = words.map((one) => ({ words: one, run: repo.handoff(one, { env }) }));
  const options: RunOptions = { session: B, env: { ...env, GIT_EDITOR: ':' } };
  const hook = (name: string, args: string[], input = '') =>
    ran.push({ words: [name], run: repo.run(join(HOOKS, name), args, { ...options, input }) });
  const commit = repo.ref('refs/heads/main') ?? '';
  hook('pre-commit', []);
  hook('pre-push', [value, value], `refs/heads/main ${commit} refs/heads/main ${'0'.repeat(40)}\n`);
  hook(
    'pre-push',
    [value, value],
    `${REF} ${repo.ref(REF) ?? ''} refs/handoffs/${value} ${'0'.repeat(40)}\n`,
  );
  return ran;
}

/** The outputs of the same calls when the field has a plain value. */
const plainViews = new Map<TerminalCase['field'], ReturnType<typeof views>>();
function plainly(field: TerminalCase['field']): ReturnType<typeof views> {
  const known = plainViews.get(field);
  if (known !== undefined) return known;
  build(field, 'a plain value');
  const found = views(field, 'a plain value');
  repo.remove();
  plainViews.set(field, found);
  return found;
}

describe('a value that could steer a terminal is escaped or refused', () => {
  it.each(cases)('$id $field, $why', ({ field, value }) => {
    const plain = plainly(field);
    build(field, value);
    for (const [n, { words, run }] of views(field, value).entries()) {
      const { status, stdout, stderr } = run;
      const said = { words, status, text: stdout + stderr };
      expect(said.text, JSON.stringify(said)).not.toMatch(STEERING);
      expect([0, 1, 2, 3, 4, 6, 7], JSON.stringify(said)).toContain(status);
      expect(stderr, JSON.stringify(said)).not.toMatch(/^\s+at |TypeError|internal error/m);
      // There are no more lines than with a plain value.
      const before = plain[n]?.run;
      // git ignores a name that has only such characters, and doctor says that there is no name.
      if (before?.status === status && !(field.startsWith('author') && words[0] === 'doctor')) {
        const count = (text: string) => text.split('\n').length;
        expect(count(stdout + stderr), JSON.stringify(said)).toBeLessThanOrEqual(
          count(before.stdout + before.stderr),
        );
      }
    }
    // A starting session is also told the value, as text.
    const start = repo.guard({ session_id: B, hook_event_name: 'SessionStart', source: 'startup' });
    expect(start).toMatchObject({ status: 0, stderr: '' });
    if (start.stdout !== '') {
      const { hookSpecificOutput } = JSON.parse(start.stdout) as {
        hookSpecificOutput: { additionalContext: string };
      };
      expect(hookSpecificOutput.additionalContext).not.toMatch(STEERING);
    }
  });

  it('is visible where it is escaped', () => {
    build('trailer.value', '\u001b[31mred');
    expect(repo.ok(['show', 'main/auth-refresh'])).toContain('\\u{1b}[31mred');
    repo.remove();
    build('subject', 'a\u202eb');
    expect(repo.ok(['list'])).toContain('a\\u{202e}b');
  });
});
