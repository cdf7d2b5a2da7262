import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VERBS as TABLE } from '../../src/cli/verbs.ts';
import { shellWord } from '../../src/domain/messages.ts';
import { TestRepository } from '../support/repository.ts';

const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
const VERBS = Object.keys(TABLE);
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

describe('help', () => {
  it.each(VERBS)('of %s exits 0 and shows an example of it', (verb) => {
    for (const words of [
      [verb, '-h'],
      [verb, '--help'],
      ['help', verb],
    ]) {
      const { status, stdout, stderr } = repo.handoff(words, { cwd: repo.home });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^usage: git handoff ${verb}\\b`));
      expect(stdout).toMatch(new RegExp(`Examples:\\n +git handoff ${verb}\\b`));
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    }
  });

  const overview = (words: string[]) => {
    const { status, stdout, stderr } = repo.handoff(words, { cwd: repo.home });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.split('\n');
  };
  const verbsIn = (lines: string[]) => lines.flatMap((line) => /^ {3}(\w+) {2,}\S/.exec(line)?.[1] ?? []);

  it('of the program fits on a screen, by group', () => {
    for (const words of [[], ['-h'], ['--help'], ['help']]) {
      const lines = overview(words);
      expect(lines.length).toBeLessThanOrEqual(41);
      expect(lines.slice(0, 4)).toEqual([
        'usage: git handoff <verb> [<options>]',
        '',
        'notes for the next session',
        '   write      leave a note, or a new version of yours',
      ]);
      expect(verbsIn(lines).length).toBeGreaterThan(10);
      expect(lines.length).toBeLessThanOrEqual(25);
      expect(VERBS).toEqual(expect.arrayContaining(verbsIn(lines)));
      expect(lines).toContain('git handoff help -a lists every verb; git help handoff opens the manual.');
    }
  });

  it('of the program, with --all, lists every verb once, a line each', () => {
    for (const words of [
      ['help', '-a'],
      ['help', '--all'],
    ]) {
      const lines = overview(words);
      expect(verbsIn(lines).sort()).toEqual([...VERBS].sort());
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  it('has --version as git’s own commands do', () => {
    expect(repo.ok(['--version'])).toMatch(/^git-handoff version \d+\.\d+\.\d+/);
  });
});

describe('every hint with a command', () => {
  it.each<[string, string[], (() => void) | undefined]>([
    ['an unknown verb', ['writ', 'x-y'], undefined],
    ['an unknown option', ['list', '--frob'], undefined],
    [
      'a topic of another branch',
      ['show', 'dev-topic'],
      () => {
        repo.git(['branch', 'dev']);
        repo.ok(['write', 'dev/dev-topic', '-m', 'x'], { session: A });
      },
    ],
    [
      'a topic that nobody wrote',
      ['show', 'no-topic'],
      () => repo.ok(['write', 'my-topic', '-m', 'x'], { session: A }),
    ],
    [
      'a foreign topic',
      ['write', 'my-topic', '-m', 'x'],
      () => repo.ok(['write', 'my-topic', '-m', 'x'], { session: A }),
    ],
    [
      'a missed expectation',
      ['write', 'my-topic', '-m', 'x', '--expect', 'none'],
      () => repo.ok(['write', 'my-topic', '-m', 'x'], { session: B }),
    ],
    [
      'a version that is none',
      ['show', 'my-topic', '--at', 'abcdef'],
      () => repo.ok(['write', 'my-topic', '-m', 'x'], { session: B }),
    ],
    [
      'a kept text that is none',
      ['show', 'my-topic', '--lost=7'],
      () => {
        repo.ok(['write', 'my-topic', '-m', 'x'], { session: A });
        repo.handoff(['write', 'my-topic', '-m', 'x'], { session: B });
      },
    ],
    ['a branch that does not exist', ['write', 'dev/my-topic', '-m', 'x'], undefined],
    ['an empty note', ['write', 'my-topic', '-m', ''], undefined],
    [
      'a file that is not there',
      ['write', 'my-topic', '--file', 'no file'],
      () => writeFileSync(join(repo.path, 'no'), ''),
    ],
    [
      'a state that is none',
      ['list', '--state', 'x'],
      () => repo.ok(['write', 'my-topic', '-m', 'x'], { session: A }),
    ],
  ])('after %s works when typed', (_what, words, prepare) => {
    prepare?.();
    const { stderr, status } = repo.handoff(words, { session: B });
    expect(status).not.toBe(0);
    const command = /^hint: ((?:git|ls) .*)$/m.exec(stderr)?.[1];
    expect(command, stderr).toBeDefined();
    const typed = repo.run('sh', ['-c', command!], { session: B });
    // This `ls` shows that a file is missing, so it must fail.
    expect(typed.status, `${command!}\n${typed.stderr}`).toBe(command!.startsWith('ls ') ? 2 : 0);
  });

  it('comes with a kept text that the printed command shows', () => {
    repo.ok(['write', 'my-topic', '-m', 'x'], { session: A });
    const { stderr } = repo.handoff(['write', 'my-topic', '-m', 'precious'], { session: B });
    const command = /print it with: (git handoff .*)$/m.exec(stderr)?.[1] ?? 'false';
    expect(repo.run('sh', ['-c', command]).stdout).toBe('precious\n');
  });

  it('quotes words so that bash reads them correctly', () => {
    const words = [
      'a b',
      "it's",
      '$(id)',
      '`id`',
      '-d',
      '~',
      '*',
      'a\nb',
      'tab\t',
      '\u202e\u{e0041}',
      '漢字 😀',
      "\u001b'\\",
      '',
    ];
    const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
    expect(repo.run('bash', ['-c', script]).stdout.split('\0').slice(0, -1)).toEqual(words);
  });
});

describe('what is printed', () => {
  it('has columns and sentences', () => {
    expect(repo.ok(['write', 'auth-refresh', '-m', '# Goal\n\nShip it'], { session: A })).toMatch(
      /^left main\/auth-refresh \([0-9a-f]{7}\)$/,
    );
    const tip = () => repo.git(['rev-parse', 'refs/handoffs/main/auth-refresh']).trim();
    const oid = tip();
    expect(repo.ok(['list'])).toMatch(/^main\/auth-refresh +claude aaaaaaaa +just now +Ship it$/);
    expect(repo.ok(['show'])).toMatch(
      /^main\/auth-refresh {2}open {2}claude aaaaaaaa {2}just now, on [0-9a-f]{12}\n/,
    );
    expect(repo.ok(['show'])).toContain(`\n${oid}\n\n# Goal\n\nShip it`);
    expect(repo.ok(['log', 'auth-refresh'])).toMatch(
      /^[0-9a-f]{12} +claude aaaaaaaa +create +just now +Ship it$/,
    );
    expect(repo.ok(['take', 'auth-refresh'], { session: B })).toBe(
      `took main/auth-refresh from claude aaaaaaaa (${tip().slice(0, 7)})`,
    );
    expect(repo.ok(['take', 'auth-refresh'], { session: B })).toBe('main/auth-refresh is yours already');
    expect(repo.ok(['close', 'auth-refresh'], { session: B })).toBe(
      `closed main/auth-refresh (${tip().slice(0, 7)})`,
    );
    expect(repo.ok(['close', 'auth-refresh'], { session: B })).toBe('main/auth-refresh was closed already');
    expect(repo.handoff(['list'])).toMatchObject({ status: 0, stderr: '' });
  });

  it('says once that a new topic looks like the same work, or exists on another branch', () => {
    repo.git(['branch', 'dev']);
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: A });
    repo.ok(['write', 'dev/retry-queue', '-m', 'x'], { session: A });
    const sibling = repo.handoff(['write', 'auth-refresh-tokens', '-m', 'x'], { session: B });
    expect(sibling.stderr).toBe(
      'notice: main/auth-refresh of claude aaaaaaaa looks like the same work: git handoff show main/auth-refresh\n',
    );
    const elsewhere = repo.handoff(['write', 'retry-queue', '-m', 'x'], { session: B });
    expect(elsewhere.stderr).toContain('git handoff show dev/retry-queue');
    expect(repo.handoff(['write', 'auth-refresh-tokens', '-m', 'y'], { session: B }).stderr).toBe('');
  });

  it('goes through the pager that git is configured to use', () => {
    repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: A });
    const command = "GIT_PAGER='sed s/^/paged:/' git -c pager.handoff=true handoff list";
    expect(repo.run('script', ['-qec', command, '/dev/null']).stdout).toMatch(/^paged:main\/auth-refresh /m);
    expect(repo.run('sh', ['-c', command]).stdout).toMatch(/^main\/auth-refresh /);
  });

  it.each([
    ['at a terminal', 'git handoff log auth-refresh', true],
    ['in a pager', "GIT_PAGER='sed s/^/paged:/' git -c pager.handoff=true handoff log auth-refresh", true],
    ['not in a pipe', 'git handoff log auth-refresh | cat', false],
    [
      'in a pipe when asked to',
      'GIT_PAGER_IN_USE=true git -c color.ui=always handoff log auth-refresh | cat',
      true,
    ],
    ['not with NO_COLOR', 'NO_COLOR=1 git handoff log auth-refresh', false],
    ['not with color.ui=false', 'git -c color.ui=false handoff log auth-refresh', false],
    ['by its own setting', 'git -c color.ui=never -c color.handoff=auto handoff log auth-refresh', true],
    ['not at a dumb terminal', 'TERM=dumb git handoff log auth-refresh', false],
  ])('is in colour %s', (_, command, isColoured) => {
    const oid = repo.noted(['write', 'auth-refresh', '-m', 'x'], { session: A });
    const { stdout } = repo.run('script', ['-qec', `TERM=xterm; export TERM; ${command}`, '/dev/null']);
    expect(stdout).toContain(oid.slice(0, 12));
    expect(stdout.includes(`\u001b[33m${oid.slice(0, 12)}\u001b[m`)).toBe(isColoured);
  });

  it('never steers the terminal, whatever a note contains', () => {
    const note = '# \u001b]0;title\u0007\u202eevil\u{e0041}\n\u009b31m body \r\nover\rwritten\n';
    repo.ok(['write', 'auth-refresh'], { session: A, input: note });
    repo.handoff(['write', 'auth-refresh'], { session: B, input: note });
    for (const words of [
      ['list'],
      ['show'],
      ['log', 'auth-refresh'],
      ['show', 'auth-refresh', '--lost'],
      ['sessions'],
    ]) {
      const { stdout, stderr } = repo.handoff(words);
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u{e0000}-\u{e007f}]/u);
    }
    expect(repo.handoff(['show', '--raw']).stdout).toBe(note);
  });
});

describe('write without input on a terminal', () => {
  /** Types the command on a pseudo-terminal, with that script as the editor (`$1` is the file). */
  function onTerminal(editor: string): { status: number; screen: string } {
    const path = join(repo.root, 'my editor');
    writeFileSync(path, `#!/bin/sh\n${editor}\n`);
    chmodSync(path, 0o755);
    const command = 'git handoff write auth-refresh; echo "status $?"';
    const { stdout } = repo.run('script', ['-qec', command, '/dev/null'], {
      session: A,
      env: { GIT_EDITOR: `'${path}'` },
    });
    return { status: Number(/status (\d+)/.exec(stdout)?.[1]), screen: stdout };
  }
  const leftovers = () =>
    readdirSync(join(repo.root, 'tmp')).filter((name) => name.startsWith('git-handoff-edit'));

  it('opens the editor on the template, and writes what is above the line', () => {
    expect(
      onTerminal(`cp "$1" "$HOME/template"; sed -i 's/^# Next Action$/&\\n\\nship it/' "$1"`).status,
    ).toBe(0);
    const template = readFileSync(join(repo.home, 'template'), 'utf8');
    for (const heading of ['# Goal', '# Next Action', '# Stop Conditions'])
      expect(template).toContain(heading);
    expect(template).toContain('The note for main/auth-refresh.');
    const note = repo.ok(['show', '--raw']);
    expect(note).toContain('# Next Action\n\nship it\n');
    expect(note).not.toContain('git-handoff: this line');
    expect(leftovers()).toEqual([]);
  });

  it.each([
    ['leaves the template as it is', ':'],
    ['empties the file', ': > "$1"'],
  ])('writes nothing when the editor %s', (_what, editor) => {
    const { status, screen } = onTerminal(editor);
    expect(status).toBe(2);
    expect(screen).toContain('error: the note is empty; nothing was written');
    expect(repo.refs('refs/handoffs')).toEqual([]);
  });

  it('keeps what was typed when the editor fails', () => {
    const { status, screen } = onTerminal('echo precious > "$1"; exit 3');
    expect(status).toBe(7);
    const file = /your text is kept in (\S+)/.exec(screen)?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toBe('precious\n');
  });

  it('keeps what was typed when another session owns the topic by then', () => {
    const editor = `echo precious > "$1"; CLAUDE_CODE_SESSION_ID=${B} git handoff write auth-refresh -m first >/dev/null`;
    const { status, screen } = onTerminal(editor);
    expect(status).toBe(3);
    expect(screen).toContain('claude bbbbbbbb');
    expect(repo.ok(['show', 'auth-refresh', '--lost=1'])).toBe('precious');
  });

  it('opens no editor when the topic is wrong', () => {
    const path = join(repo.root, 'opened');
    const { stdout } = repo.run('script', ['-qec', 'git handoff write fix', '/dev/null'], {
      env: { GIT_EDITOR: `touch '${path}';:` },
    });
    expect(stdout).toContain('error: not a topic');
    expect(existsSync(path)).toBe(false);
  });
});
