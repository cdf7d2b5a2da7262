import { Failure } from '../../domain/failure.ts';
import type { Interaction } from '../interaction.ts';
import type { Arguments, OptionTable } from '../options.ts';

/** The pathspecs of a verb may come from a file, as git's own commands take them. */
export const PATHSPEC_OPTIONS: OptionTable = {
  'pathspec-from-file': {
    type: 'string',
    value: '<file>',
    describe: 'read the paths from a file, one per line',
  },
  'pathspec-file-nul': { type: 'boolean', describe: 'the paths in that file end in NUL' },
};

/**
 * The pathspecs of a command line.
 *
 * @param words those of its words that are pathspecs
 * @throws Failure `usage` when they are named in both ways, or the file names none
 */
export function readPathspecs(
  args: Arguments,
  { note }: Pick<Interaction, 'note'>,
  words: readonly string[] = args.words,
): readonly string[] {
  const file = args.text('pathspec-from-file');
  if (file === undefined) return words;
  const hint = 'git commit -h';
  if (words.length > 0) {
    throw new Failure('usage', '--pathspec-from-file and pathspecs exclude each other', { hint });
  }
  const bytes = note({ topic: '', messages: [], file });
  const text = bytes instanceof Uint8Array ? Buffer.from(bytes).toString('utf8') : '';
  const found = text.split(args.flag('pathspec-file-nul') ? '\0' : /\r?\n/).filter((line) => line !== '');
  if (found.length === 0) throw new Failure('usage', `${file} names no path`, { hint });
  return found;
}
