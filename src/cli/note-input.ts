import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { shellWord } from '../domain/surfacing.ts';
import type { Input } from '../host/io.ts';
import type { NoteSource } from '../verbs/interaction.ts';

/** Reads the note from `-m`, `--file`, a stdin that is no terminal, or else promises the editor. */
export function noteSource(cwd: string, stdin: Input, isTerminal: boolean): NoteSource {
  return ({ messages, file }) => {
    if (messages.length > 0 && file !== undefined) {
      throw new Failure('usage', '-m and --file exclude each other', { hint: 'git handoff write -h' });
    }
    if (messages.length > 0) return Buffer.from(`${messages.join('\n\n')}\n`);
    if (file !== undefined && file !== '-') return readNoteFile(resolve(cwd, file));
    if (file === '-' || !isTerminal) return readStdin(stdin);
    return async (target) => (await import('./editor.ts')).editNote(cwd, target);
  };
}

function readNoteFile(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure('usage', `cannot read ${JSON.stringify(file)} (${code})`, {
      hint: `ls -l -- ${shellWord(file)}`,
      cause: error,
    });
  }
}

const CHUNK_BYTES = 65_536;

/** Between two looks at a pipe that another program made non-blocking. Milliseconds. */
const PAUSE_MS = 10;

function readStdin(stdin: Input): Uint8Array {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const size = readSome(stdin, chunk);
    if (size === 0) return Buffer.concat(chunks);
    if (size === undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    else chunks.push(chunk.subarray(0, size));
  }
}

/** Bytes read, 0 at the end, `undefined` when the writer has not written yet. */
function readSome(stdin: Input, chunk: Buffer): number | undefined {
  try {
    return stdin.read(chunk);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return undefined;
    // A closed stdin is an empty one; an interactive one that would block has been ruled out.
    if (code === 'EOF' || code === 'EBADF') return 0;
    throw new Failure('environment', `stdin cannot be read (${code})`, {
      hint: 'git handoff write <topic> --file <file>',
      cause: error,
    });
  }
}
