import { cutToBytes, escapeLine } from '../surfacing.ts';
import type { FileFact } from './facts.ts';
import { type NoteFinding, finding } from './rules.ts';

/** A path of the note is shown as far as it fits into a line. Bytes. */
const MAX_SHOWN = 200;

/** What became of the files that the note calls important. */
export function fileFindings(files: readonly FileFact[], left: number): NoteFinding[] {
  const more = left === 0 ? [] : [finding('files-left', `${left} more important files were not looked at`)];
  return [...files.map(fileFinding), ...more];
}

function fileFinding({ path, state }: FileFact): NoteFinding {
  const name = shown(path);
  switch (state.kind) {
    case 'present':
      return finding('file-present', `${name} is as it was`, path);
    case 'changed': {
      const how = [
        ...(state.committed ? ['by commits'] : []),
        ...(state.uncommitted ? ['not committed'] : []),
      ];
      return finding('file-changed', `${name} has changed (${how.join(', ')})`, path);
    }
    case 'moved':
      return finding('file-moved', `${name} is ${shown(state.to)} now`, path);
    case 'missing':
      return finding(
        'file-missing',
        state.known ? `${name} is gone` : `${name} is not here, and not in the note's base`,
        path,
      );
    case 'uncompared':
      return finding('file-uncompared', `${name} is here; it is unknown whether it has changed`, path);
    case 'unsafe':
      return finding('file-unsafe', `${name} is not a path inside the repository: not looked at`, path);
  }
}

const shown = (path: string) => cutToBytes(escapeLine(path), MAX_SHOWN);
