import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultWorld, TOPIC } from './fault-world.ts';

export interface TracedWrite {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the program came as far as reading its stdin. */
  readonly hasRead: boolean;
}

/** A whole write behind the given words, its text on stdin as a file: its offset tells whether anybody read it. */
export function writeBehind(
  world: FaultWorld,
  text: string,
  words: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): TracedWrite {
  const note = join(world.root, 'note');
  writeFileSync(note, text);
  const stdin = openSync(note, 'r');
  try {
    const { status, stdout, stderr } = spawnSync('env', [...words, 'git-handoff', 'write', TOPIC], {
      cwd: world.path,
      env: world.env({ CLAUDE_CODE_SESSION_ID: world.session, ...extra }),
      stdio: [stdin, 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    return { status, stdout, stderr, hasRead: readSync(stdin, Buffer.alloc(1)) === 0 };
  } finally {
    closeSync(stdin);
  }
}
