import { escapeLine } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';
import type { UnpackValue } from './unpack.ts';

/** Prints what was unpacked, one path per line. */
export function renderUnpacked({ branch, topic, author, dryRun, items }: UnpackValue): Rendered {
  const done = dryRun ? 'would unpack cleanly' : 'unpacked';
  const head = `${escapeLine(`${branch}/${topic}`)} ${done}: ${items.length} ${items.length === 1 ? 'path' : 'paths'} of ${author}\n`;
  const lines = items.map(({ path, action, staged }) => {
    const words = {
      written: '',
      removed: ' (removed)',
      marked: ' (has conflict markers)',
      there: ' (already there)',
    };
    return `  ${escapeLine(path)}${words[action]}${staged ? ', staged' : ''}\n`;
  });
  return head + lines.join('');
}
