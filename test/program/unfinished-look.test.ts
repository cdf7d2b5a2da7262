import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer } from '../support/hook-answer.ts';
import { A, B, C, SharingWorld, refusal, contextText } from '../support/sharing-world.ts';

/** `git status` ends without an answer, as if it had taken too long and was stopped. */

const IN_TIME = 'git status did not finish in time';

class SlowWorld extends SharingWorld {
  slow = '';

  /** From now on, these git commands fail. */
  without(...verbs: string[]): void {
    const folder = join(this.root, 'slow');
    mkdirSync(folder, { recursive: true });
    const path = this.env()['PATH'] ?? '';
    const cases = verbs.map((verb) => `*' ${verb} '*`).join(' | ');
    const script = `#!/bin/sh\ncase " $* " in ${cases}) exit 1 ;; esac\nPATH='${path}' exec git "$@"\n`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    this.slow = `${folder}:${path}`;
  }

  override env(extra: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    return super.env(this.slow ? { PATH: this.slow, ...extra } : extra);
  }
}

let world: SlowWorld;
beforeEach(() => {
  world = new SlowWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

describe('when git status does not finish', () => {
  it.each(['git reset --hard', 'git stash', 'git checkout -f', 'git restore .', 'git switch -c other'])(
    "%s is refused for others' files, and the refusal says that git status did not finish",
    (command) => {
      world.write(A, 'src/a.ts', 'of A\n');
      world.without('status', 'for-each-ref');
      const text = refusal(world.may(B, command));
      expect(text).toContain('src/a.ts');
      expect(text).toContain(IN_TIME);
    },
  );

  it('git clean is refused for a new file of another session', () => {
    world.write(A, 'src/new.ts', 'of A\n');
    world.without('status', 'for-each-ref');
    expect(refusal(world.may(B, 'git clean -fd'))).toContain('src/new.ts');
  });

  it('a file that is as in HEAD is in nobody’s way, and the guard says what it did not look at', () => {
    world.write(A, 'src/a.ts', 'of A\n');
    world.git(['checkout', '-q', 'src/a.ts']);
    world.without('status', 'for-each-ref');
    const answer = world.may(B, 'git reset --hard');
    expect(answer.kind).toBe('context');
    expect(contextText(answer)).toContain('not checked: ');
    expect(contextText(answer)).toContain(IN_TIME);
  });

  it('rm and edits of another session’s file are refused', () => {
    world.write(A, 'src/a.ts', 'of A\n');
    world.without('status', 'for-each-ref');
    expect(refusal(world.may(B, 'rm src/a.ts'))).toContain(IN_TIME);
    expect(refusal(world.try(B, 'src/a.ts', 'x'))).toContain(IN_TIME);
  });

  it('a command that only reads hears nothing', () => {
    world.write(A, 'src/a.ts', 'of A\n');
    world.without('status');
    expect(world.may(B, 'ls src')).toEqual({ kind: 'silent' });
  });

  it('the guard says that it does not know what a command changed', () => {
    const tool = { session_id: B, tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'one' };
    world.guard({ hook_event_name: 'PreToolUse', ...tool });
    world.without('status');
    const after = world.guard({ hook_event_name: 'PostToolUse', tool_response: {}, ...tool });
    expect(contextText(readAnswer(after, 'PostToolUse'))).toContain('not checked: what this command changed');
  });
});

describe('a session that is gone', () => {
  it('is in nobody’s way, even if only the ledger is known', () => {
    world.write(A, 'src/a.ts', 'of A\n');
    world.end(A);
    world.without('status', 'for-each-ref');
    expect(world.may(B, 'git checkout -f').kind).not.toBe('deny');
  });
});

describe('a session whose start list could not be made', () => {
  it('owns what is nobody’s when another session comes', () => {
    const alone = new SharingWorld({ ready: [A] });
    try {
      const lines = readFileSync(alone.journal(A), 'utf8').split('\n');
      writeFileSync(alone.journal(A), lines.filter((line) => !line.includes('"alone"')).join('\n'));
      alone.may(A, 'make');
      writeFileSync(join(alone.path, 'src/a.ts'), 'of A\n');
      alone.begin(B);
      expect(refusal(alone.may(B, 'git reset --hard'))).toContain('src/a.ts');
      expect(alone.claimed(A)).toEqual(['src/a.ts']);
    } finally {
      alone.remove();
    }
  });
});

describe('a session that starts where git does not report what others left', () => {
  it('is recorded all the same, and hears how to see it', () => {
    world.without('cat-file');
    writeFileSync(join(world.path, 'src/a.ts'), 'x');
    expect(contextText(world.begin(C))).toContain('git-handoff: you are claude');
    world.slow = '';
    expect(world.json(['sessions']).items.map(({ session }) => session)).toContain(C);
  });
});
