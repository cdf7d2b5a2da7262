import { call, type Turn } from '../model/script.ts';

/** A turn in which Claude Code runs a shell command. */
export function bash(command: string, gates: Partial<Turn> = {}): Turn {
  return call('Bash', { command, description: 'test' }, gates);
}

/** A turn in which Claude Code writes a whole file. */
export function write(file: string, content: string, gates: Partial<Turn> = {}): Turn {
  return call('Write', { file_path: file, content }, gates);
}

/** A turn in which Claude Code replaces a text in a file. */
export function edit(file: string, from: string, to: string): Turn {
  return call('Edit', { file_path: file, old_string: from, new_string: to });
}

/** A turn in which Claude Code reads a file, as it must before it changes an existing one. */
export function read(file: string): Turn {
  return call('Read', { file_path: file });
}
