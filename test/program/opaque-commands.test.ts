import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

/** What A has not committed: line ends of two kinds, bytes that are no text, and a last line without an end. */
const WORK = Buffer.from('a’s work\r\nsecond line\n\u0000\u0001last', 'utf8');

let world: SharingWorld;
let bin: string;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  bin = `${world.path}-bin`;
  mkdirSync(bin);
  program('tool', 'for file; do :; done; printf "by a tool\\n" > "$file"');
  // Stands in for GNU awk with its inplace library: `awk -i inplace <program> <file>`.
  program('awk', '/usr/bin/awk "$3" "$4" > "$4.new" && mv "$4.new" "$4"');
  world.write(A, 'src/a.ts', 'begun\n');
  world.write(A, 'src/a.ts', WORK.toString('utf8'));
});
afterEach(() => world.remove());

/** Makes a program that the analysis of commands does not know. */
function program(name: string, body: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(bin, name), 0o755);
}

const bytes = () => readFileSync(join(world.path, 'src/a.ts'));

/** Runs a command of B, with the programs above and those of the machine. */
const run = (command: string) =>
  world.bash(B, command, { env: { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` } });

/** Finds the command that brings the work back. */
const printed = (text: string) => /git (handoff rescue restore [^`\n]*?)(?:\.?$|\. )/m.exec(text)?.[1] ?? '';

const OPAQUE = {
  'a program of nobody’s': 'tool --in-place src/a.ts',
  'a program that names nothing': `cd src && tool "$(printf 'a.%s' ts)"`,
  'awk in place': `awk -i inplace '{ print "by awk" }' src/a.ts`,
  'an editor': 'ex -s -u NONE -c "%d" -c wq src/a.ts',
  'a program in Python': `/usr/bin/env python3 -c 'import os; open("src/a.ts", "w").write("by python")'`,
  'a script in Perl': `cat > /dev/null <<< x; perl - <<'END'\nunlink "src/" . "a.ts";\nEND`,
  'git by way of another language': `perl -e 'system("git", "checkout", "--", "src/a.ts")'`,
};

describe.each(Object.entries(OPAQUE))('uncommitted work of another session that %s hits', (_, command) => {
  it('is noticed afterwards: both sessions hear of it, and the command that they are told restores it byte for byte', () => {
    const { before, run: ran, after } = run(command);
    expect(before).toEqual({ kind: 'silent' });
    expect(ran).toMatchObject({ status: 0 });
    expect(bytesOrNone()).not.toEqual(WORK);
    expect(contextText(after)).toMatch(/src\/a\.ts .*claude aaaaaaaa .*git handoff rescue show 1;/);
    const heard = contextText(world.bash(A, 'true').after);
    expect(heard).toMatch(/claude bbbbbbbb .*src\/a\.ts.*git handoff rescue show 1/s);
    const restored = world.as(A, printed(heard).split(' '));
    expect(restored).toMatchObject({ status: 0, stderr: '' });
    expect(bytes()).toEqual(WORK);
    expect(world.as(A, ['handoff', 'commit', '-m', 'a', '--', 'src/a.ts'])).toMatchObject({ status: 0 });
  });
});

const bytesOrNone = () => {
  try {
    return bytes();
  } catch {
    return undefined;
  }
};

describe('a session that hit another session’s work with a command that nobody could read', () => {
  it('may put it back itself, and what it overwrote is kept, too', () => {
    const { after } = run('tool --in-place src/a.ts');
    const restored = world.as(B, printed(contextText(after)).split(' '));
    expect(restored).toMatchObject({ status: 0 });
    expect(bytes()).toEqual(WORK);
    expect(world.handoff(['rescue', 'show', '--raw', '2', '--', 'src/a.ts']).stdout).toBe('by a tool\n');
  });

  it('may not put back what the owner has changed since', () => {
    const { after } = run('tool --in-place src/a.ts');
    world.write(A, 'src/a.ts', 'gone on\n');
    expect(world.as(B, printed(contextText(after)).split(' '))).toMatchObject({ status: 3 });
    expect(world.read('src/a.ts')).toBe('gone on\n');
  });

  it('hears a command of its own for each session’s work', () => {
    world.begin(C);
    world.write(C, 'src/b.ts', 'c\n');
    run('tool src/a.ts; tool src/b.ts');
    for (const [session, path] of [
      [A, 'src/a.ts'],
      [C, 'src/b.ts'],
    ] as const) {
      const heard = contextText(world.bash(session, 'true').after);
      expect(heard).toContain(`rescue restore --force 1 -- :/${path}`);
      expect(world.as(session, printed(heard).split(' '))).toMatchObject({ status: 0 });
    }
    expect([bytes(), world.read('src/b.ts')]).toEqual([WORK, 'c\n']);
  });

  it('hears nothing if the owner’s own command or file tool made the change', () => {
    const id = { tool_use_id: 'long' };
    const input = { tool_name: 'Bash', tool_input: { command: 'npm test' } };
    world.guard({ session_id: B, hook_event_name: 'PreToolUse', ...input, ...id });
    world.write(A, 'src/a.ts', 'gone on\n');
    world.guard({ session_id: B, hook_event_name: 'PostToolUse', ...input, ...id });
    expect(world.handoff(['rescue']).stdout).toContain('nothing to bring back');
  });

  it('is refused as usual if an everyday command names the path', () => {
    for (const command of [
      'sed -i s/a/b/ src/a.ts',
      'rm src/a.ts',
      'mv src/b.ts src/a.ts',
      'echo x > src/a.ts',
      'perl -pi -e s/a/b/ src/a.ts',
      'git checkout -- src/a.ts',
      'find src -name a.ts -delete',
      'sudo -n cp src/b.ts src/a.ts',
    ])
      expect(refusal(world.may(B, command)), command).toContain('claude aaaaaaaa');
  });
});

it('work that was removed by hand is kept in one rescue, even if two earlier rescues each hold a part of it', () => {
  const files = { 'src/a.ts': WORK.toString('utf8'), 'src/b.ts': 'b\n' };
  const paths = Object.keys(files);
  const lose = (lost: string[]) => {
    for (const path of lost) rmSync(join(world.path, path));
    world.bash(B, 'make --version');
  };
  world.write(A, 'src/b.ts', 'b\n');
  for (const [path, text] of Object.entries(files)) {
    lose([path]);
    world.write(A, path, text);
  }
  world.bash(A, 'make --version');
  lose(paths);
  const rescues = world.json(['rescue']).items as { files: { path: string }[] }[];
  expect(rescues.map((one) => one.files.map(({ path }) => path).sort())).toContainEqual(paths);
});
