import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';
import { shape } from '../support/shape.ts';
import { A, B, SharingWorld, TEN } from '../support/sharing-world.ts';

/** The whole output of each verb that a user meets. */

const NOTE =
  '# Goal\nLog people in.\n\n# Next action\nRun the tests.\n\n# Stop conditions\nThe tests are red.\n';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

/** What a verb prints, without the parts that differ from run to run. */
function prints(words: readonly string[], session?: string, input = ''): string {
  const options = session === undefined ? { input } : { input, session };
  const { status, stdout, stderr } = world.handoff(words, options);
  const text = [stdout, stderr && `(stderr)\n${stderr}`, status === 0 ? '' : `(exit ${status})\n`].join('');
  return shape(text.replaceAll(world.root, '<root>'));
}

describe('notes', () => {
  it('write says what it left', () => {
    expect(prints(['write', 'auth-refresh'], A, NOTE)).toMatchInlineSnapshot(`
      "left main/auth-refresh (<oid>)
      "
    `);
  });

  it('write on a note of a session at work is refused, and the text is kept', () => {
    prints(['write', 'auth-refresh'], A, NOTE);
    expect(prints(['write', 'auth-refresh', '-m', 'mine'], B)).toMatchInlineSnapshot(`
      "(stderr)
      error: main/auth-refresh belongs to claude aaaaaaaa, which is at work; your text is kept, print it with: git handoff show main/auth-refresh --lost=1
      hint: git handoff show main/auth-refresh --lost=1 | git handoff write main/auth-refresh-cont --file -
      (exit 3)
      "
    `);
  });

  it('write without a text says how to give it one', () => {
    expect(prints(['write', 'auth-refresh'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: the note is empty; nothing was written
      hint: git handoff write main/auth-refresh -m 'what the next session must know'
      (exit 2)
      "
    `);
  });

  it('list shows the notes, or says that there are none', () => {
    expect(prints(['list'], A)).toMatchInlineSnapshot(`
      "no open handoffs; leave one: git handoff write <topic> -m '<text>' (closed ones: git handoff list --all)
      "
    `);
    expect(prints(['list', '--all'], A)).toMatchInlineSnapshot(`
      "no handoffs; leave one: git handoff write <topic> -m '<text>'
      "
    `);
    prints(['write', 'retry-queue', '-m', 'The retry queue survives a restart'], B);
    prints(['write', 'auth-refresh'], A, NOTE);
    expect(prints(['list'], A)).toMatchInlineSnapshot(`
      "main/auth-refresh  claude aaaaaaaa  <age>  Log people in.
      main/retry-queue  claude bbbbbbbb  <age>  The retry queue survives a restart
      "
    `);
  });

  it('show prints a note and its owner', () => {
    prints(['write', 'auth-refresh'], A, NOTE);
    expect(prints(['show', 'auth-refresh'], B)).toMatchInlineSnapshot(`
      "main/auth-refresh  open  claude aaaaaaaa  <age>, on <oid>
      <oid>

      # Goal
      Log people in.

      # Next action
      Run the tests.

      # Stop conditions
      The tests are red.
      "
    `);
  });

  it('boot judges whether a note still holds', () => {
    prints(['write', 'auth-refresh'], A, NOTE);
    world.git(['commit', '-q', '--allow-empty', '--no-verify', '-m', 'later']);
    expect(prints(['boot', 'auth-refresh'], B)).toMatchInlineSnapshot(`
      "main/auth-refresh  claude aaaaaaaa  <age>, on <oid>
      not stale; the repository has moved on since

      Goal:
        | Log people in.

      Holds:
        branch  main is checked out
        tree  the working tree is clean, as it was

      Does not hold:
        head  changed  main has 1 commit more than the note's base
        siblings  changed  its owner, claude aaaaaaaa, is at work now and may be doing this

      Unknown:
        tests  not proven: the session of the note tried nothing

      Next action:
        | Run the tests.

      Stop conditions:
        | The tests are red.

      The whole note: git handoff show main/auth-refresh
      "
    `);
  });

  it('take and close say what they did', () => {
    prints(['write', 'auth-refresh'], A, NOTE);
    world.end(A);
    expect(prints(['take', 'auth-refresh'], B)).toMatchInlineSnapshot(`
      "took main/auth-refresh from claude aaaaaaaa (<oid>)
      "
    `);
    expect(prints(['close', 'auth-refresh'], B)).toMatchInlineSnapshot(`
      "closed main/auth-refresh (<oid>)
      "
    `);
  });

  it('log -p shows what the last version changed; other verbs refuse versions', () => {
    prints(['write', 'auth-refresh', '-m', 'Retry test is red'], A);
    prints(['write', 'auth-refresh', '-m', 'Retry test is green'], A);
    expect(prints(['log', '-p', 'auth-refresh'], A)).toMatchInlineSnapshot(`
      "--- main/auth-refresh  <oid>  claude aaaaaaaa  <age>
      +++ main/auth-refresh  <oid>  claude aaaaaaaa  <age>
      @@ -1 +1 @@
      -Retry test is red
      +Retry test is green
      "
    `);
    expect(prints(['log', '-p'], A)).toBe(prints(['log', '-p', 'auth-refresh'], A));
    expect(prints(['log', 'auth-refresh', 'abcdef1'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: log takes versions only with -p
      hint: git handoff log -p auth-refresh <oid>
      (exit 2)
      "
    `);
  });

  it('delete lists what it would remove, and a session may remove its own notes', () => {
    prints(['write', 'auth-refresh', '-m', 'Retry test is red'], A);
    expect(prints(['delete', 'auth-refresh'], A)).toMatchInlineSnapshot(`
      "to remove  kept  <oid>  refs/handoffs-local/kept/main/auth-refresh
      to remove  handoff  <oid>  refs/handoffs/main/auth-refresh

      It belongs to claude aaaaaaaa.
      Nothing was removed. A deletion cannot be undone. To delete: git handoff delete main/auth-refresh --yes --expect <oid>
      Its text stays in this repository until git collects what nothing refers to: git gc --prune=now
      git does not collect a text that is also in another note, a commit or a reflog.
      A deletion does not reach clones and forks that fetched the note (each can push it again: delete it there, too),
      a server's logs, backups and packs, and files with a copy of it. Replace any secret that was in it.
      "
    `);
    expect(prints(['delete', 'auth-refresh', '--yes'], B)).toMatchInlineSnapshot(`
      "(stderr)
      error: main/auth-refresh belongs to claude aaaaaaaa, which is at work; a session deletes only its own notes: ask the user
      hint: git handoff show main/auth-refresh
      (exit 3)
      "
    `);
    prints(['close', 'auth-refresh'], A);
    expect(prints(['delete', '--closed'], B)).toBe('there is no closed handoff that you may delete\n');
    expect(prints(['delete', '--closed'], A)).toMatchInlineSnapshot(`
      "closed  main/auth-refresh  claude aaaaaaaa  <age>  <oid>

      Nothing was deleted. To delete them: git handoff delete --closed --yes
      "
    `);
  });

  it.each([
    ['purge', ['delete']],
    ['prune', ['delete', '--closed']],
    ['fetch', ['sync', '--fetch']],
    ['push', ['sync', '--push']],
  ])('%s, as it was spelt before, does what %j does', (former, now) => {
    prints(['write', 'auth-refresh', '-m', 'Retry test is red'], A);
    prints(['close', 'auth-refresh'], A);
    const words = former === 'purge' ? ['auth-refresh'] : [];
    expect(prints([former, ...words], A)).toBe(prints([...now, ...words], A));
    expect(prints(['help', former])).toBe(prints([now[0] ?? '', '-h']));
    expect(prints(['help', '-a'])).not.toContain(`   ${former} `);
  });

  it('with -q, only errors', () => {
    expect(prints(['write', '-q', 'auth-refresh'], A, NOTE)).toBe('');
    world.end(A);
    expect(prints(['take', '-q', 'auth-refresh'], B)).toBe('');
    expect(prints(['close', '--quiet', 'auth-refresh'], B)).toBe('');
    expect(prints(['close', '-q', 'no-such-topic'], B)).toMatchInlineSnapshot(`
      "(stderr)
      error: there is no handoff main/no-such-topic
      hint: git handoff list --all
      (exit 1)
      "
    `);
  });

  it('a write over another session’s note says whose it was', () => {
    prints(['write', 'auth-refresh'], A, NOTE);
    world.end(A);
    expect(prints(['write', 'auth-refresh', '--take', '-m', 'mine'], B)).toMatchInlineSnapshot(`
      "left main/auth-refresh (<oid>), taken from claude aaaaaaaa
      "
    `);
  });

  it('sync says what was fetched and pushed', () => {
    const server = new TestRepository({ bare: true });
    try {
      world.git(['remote', 'add', 'origin', server.path]);
      prints(['write', 'auth-refresh'], A, NOTE);
      expect(prints(['sync', 'origin']).replaceAll(server.root, '<server>')).toMatchInlineSnapshot(`
        "pushed  main/auth-refresh
        origin (<server>/repository): 0 fetched, 1 pushed, 0 unchanged
        (stderr)
        notice: origin has no handoffs yet: sending a handoff with its whole history to <server>/repository, where everybody with access to that repository can read all of it
        "
      `);
      expect(prints(['sync', 'origin']).replaceAll(server.root, '<server>')).toMatchInlineSnapshot(`
        "origin (<server>/repository): 0 fetched, 0 pushed, 1 unchanged
        "
      `);
    } finally {
      server.remove();
    }
  });
});

describe('work', () => {
  it('status says whose each changed path is, to a session and to a person', () => {
    world.write(A, 'src/a.ts', TEN.replace('line 3', 'of A'));
    world.write(B, 'src/b.ts', TEN.replace('line 4', 'of B'));
    expect(prints(['status'], A)).toMatchInlineSnapshot(`
      "Yours (claude aaaaaaaa):
        modified  <age>  -  src/a.ts

      Of claude bbbbbbbb (live):
        modified  <age>  -  src/b.ts

      To commit only what is yours: git handoff commit -m '<message>'
      "
    `);
    expect(prints(['status'])).toMatchInlineSnapshot(`
      "Of claude aaaaaaaa (live):
        modified  <age>  -  src/a.ts

      Of claude bbbbbbbb (live):
        modified  <age>  -  src/b.ts

      To take a change over from its session: git handoff take -- src/a.ts
      "
    `);
  });

  it('status of a missing path is an error, and take of a file names the command that was meant', () => {
    world.write(A, 'src/a.ts', TEN.replace('line 3', 'of A'));
    expect(prints(['status', '--', 'src/c.ts'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: there is no src/c.ts, and no uncommitted change removed it
      hint: git handoff status
      (exit 1)
      "
    `);
    expect(prints(['status', '--', 'src/a.ts/below'], A)).toContain('error: there is no src/a.ts/below, and');
    expect(prints(['status', '--', 'src'], A)).toContain('src/a.ts');
    world.end(A);
    expect(prints(['take', 'src/a.ts'], B)).toMatchInlineSnapshot(`
      "(stderr)
      error: not a topic: "a.ts"; a topic is lower-case words joined by "-"
      hint: git handoff take -- src/a.ts
      (exit 2)
      "
    `);
    expect(prints(['take', '--', 'src/a.ts'], B)).toMatchInlineSnapshot(`
      "took src/a.ts from claude aaaaaaaa
      "
    `);
  });

  it('says of a topic that breaks a rule which one', () => {
    const said = (topic: string) => prints(['write', topic, '-m', 'x'], A);
    for (const topic of ['auth--refresh', 'auth-refresh-']) expect(said(topic)).toContain('words joined by');
    expect(said(`auth-${'x'.repeat(96)}`)).toContain('it has more than 100 bytes');
  });

  it('a topic may be one word, unless it is a common one or the name of the branch', () => {
    expect(prints(['write', 'auth', '-m', 'Retry test is red'], A)).toContain('left main/auth (');
    expect(prints(['show', 'auth'], A)).toContain('Retry test is red');
    expect(prints(['write', 'wip', '-m', 'Retry test is red'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: not a topic: "wip"; it does not say what the work is; your text is kept in <root>/tmp/git-handoff-<name>/handoff.md
      hint: git handoff write wip-work --file <root>/tmp/git-handoff-<name>/handoff.md
      (exit 2)
      "
    `);
    expect(prints(['write', 'Auth_Refresh', '-m', 'Retry test is red'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: not a topic: "Auth_Refresh"; a topic is lower-case words joined by "-"; your text is kept in <root>/tmp/git-handoff-<name>/handoff.md
      hint: git handoff write auth-refresh --file <root>/tmp/git-handoff-<name>/handoff.md
      (exit 2)
      "
    `);
    const typed = world.handoff(['write', 'team/auth/wip', '-m', 'Retry test is red'], { session: A });
    const [, hint = ''] = /^hint: (git handoff write team\/auth\/wip-work .*)$/m.exec(typed.stderr) ?? [];
    world.git(['branch', 'team/auth']);
    expect(world.run('sh', ['-c', hint], { session: A }).stdout).toContain('left team/auth/wip-work (');
    expect(prints(['show', 'team/auth/wip-work'], A)).toContain('Retry test is red');
    world.git(['switch', '-q', '-c', 'team/login']);
    expect(prints(['write', 'login', '-m', 'Retry test is red'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: not a topic: "login"; it is the name of the branch; your text is kept in <root>/tmp/git-handoff-<name>/handoff.md
      hint: git handoff write login-work --file <root>/tmp/git-handoff-<name>/handoff.md
      (exit 2)
      "
    `);
    expect(prints(['show', 'login'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: not a topic: "login"; it is the name of the branch
      hint: git handoff list --all
      (exit 2)
      "
    `);
  });

  it('many automatic notes are one line, after the written ones', () => {
    prints(['write', 'auth-refresh', '-m', 'Retry test is red'], A);
    for (const name of ['one', 'two', 'three', 'four']) {
      const session = `cccccccc-${name}`;
      world.begin(session);
      world.write(session, `src/${name}.ts`, 'new\n');
      world.end(session);
    }
    expect(prints(['list'], A)).toMatchInlineSnapshot(`
      "main/auth-refresh  claude aaaaaaaa  <age>  Retry test is red

      4 sessions ended with uncommitted work: git handoff list --all, git handoff status
      "
    `);
    expect(prints(['list', '--all'], A).split('\n')).toHaveLength(6);
    expect(prints(['show'], A)).toContain('Retry test is red');
  });

  it('rescue lists what a command would have destroyed, and restore brings it back', () => {
    world.end(B);
    world.write(A, 'src/a.ts', TEN.replace('line 3', 'of A'));
    world.bash(A, 'git checkout -- src/a.ts');
    expect(prints(['rescue'], A)).toMatchInlineSnapshot(`
      "1  <age>  before git checkout -- src/a.ts (claude aaaaaaaa)  repository  src/a.ts

      To look: git handoff rescue show 1
      To bring back: git handoff rescue restore 1
      "
    `);
    expect(prints(['rescue', 'restore', '1'], A)).toMatchInlineSnapshot(`
      "src/a.ts is back
      (from rescue 1)
      "
    `);
    expect(world.read('src/a.ts')).toContain('of A');
  });

  it('rescue says so if nothing is kept', () => {
    expect(prints(['rescue'], A)).toMatchInlineSnapshot(`
      "nothing to bring back
      "
    `);
  });

  it('sessions lists who is at work, and with what', () => {
    world.write(A, 'src/a.ts', TEN.replace('line 3', 'of A'));
    expect(prints(['sessions'], A)).toMatchInlineSnapshot(`
      "  bbbbbbbb  live  claude  main  since <age>  <root>/repository
      *  aaaaaaaa  live  claude  main  since <age>  <root>/repository  1 uncommitted: src/a.ts
      "
    `);
  });
});

describe('help', () => {
  it('also covers the guard, which clients call', () => {
    const answer = world.handoff(['guard', '-h'], { calls: 'process' }).stdout;
    expect(answer).toMatchInlineSnapshot(`
      "usage: git handoff guard [--client <name>]

      the hook that a client calls around its tools
      Reads the payload on standard input, prints the decision (nothing: allowed), and always exits with 0.
      init registers it; nobody types it. What it did: git handoff doctor
      "
    `);
    expect(world.ok(['help', 'guard'])).toBe(answer.trimEnd());
  });
});

describe('a mistake', () => {
  it('an unknown verb is answered with the nearest one', () => {
    expect(prints(['wirte', 'auth-refresh'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: there is no verb "wirte"
      hint: git handoff write -h
      (exit 2)
      "
    `);
  });

  it('a verb outside a repository says where to go', () => {
    rmSync(join(world.path, '.git'), { recursive: true });
    expect(prints(['list'], A)).toMatchInlineSnapshot(`
      "(stderr)
      error: not a git repository (or any of the parent directories)
      hint: cd into a repository, or run: git init
      (exit 7)
      "
    `);
  });
});
