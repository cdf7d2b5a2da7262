import { Failure } from '../../domain/messages.ts';
import { type Arguments, flag } from '../options.ts';
import { answer, type VerbTable } from '../verb.ts';

const HINT = { hint: 'git handoff rescue -h' };

export const RESCUE_VERBS: VerbTable = {
  rescue: {
    usage: 'rescue [<action>] [<which>] [-- <path>...]',
    group: 'rescue',
    summary: 'list and restore what a command threw away',
    details:
      'Restores uncommitted work and dropped stashes. git handoff rescue search finds what git-handoff has not saved: lost commits and stashes, and contents that were only staged.',
    words: [0, Infinity],
    options: {
      raw: flag('with show: print only the bytes of one file'),
      force: flag('with restore: overwrite uncommitted changes, too; they are saved first', { alias: 'f' }),
    },
    examples: [
      ['git handoff rescue', 'what can be restored, newest first (the action list)'],
      ['git handoff rescue list a1f0c3d2', 'what one session lost'],
      ['git handoff rescue show 3 -- src/auth.ts', 'one file of rescue 3'],
      ['git handoff rescue restore 3 -- src/auth.ts', 'bring it back'],
      ['git handoff rescue search src/auth.ts', 'what git still has of this file, even from before init'],
    ],
    async run(args, context) {
      const { action, which, paths } = parseWords(args);
      if (action === 'list') {
        const { listRescued } = await import('./rescues.ts');
        const result = await listRescued({ which, paths }, context);
        return answer(result, async () => (await import('./rescue-text.ts')).renderRescues);
      }
      if (action === 'show') {
        const { showRescued } = await import('./rescues.ts');
        const result = await showRescued({ which, paths, raw: args.flag('raw') }, context);
        return answer(result, async () => (await import('./rescue-text.ts')).renderRescued);
      }
      if (action === 'search') {
        const { searchLost } = await import('./search.ts');
        const result = await searchLost(paths[0] ?? which, context);
        return answer(result, async () => (await import('./rescue-text.ts')).renderFound);
      }
      const { restoreRescued } = await import('./restore.ts');
      const options = { which, paths, force: args.flag('force'), session: args.text('session') };
      const result = await restoreRescued(options, context);
      return answer(result, async () => (await import('./rescue-text.ts')).renderRestored);
    },
  },
};

const ACTIONS = ['list', 'show', 'restore', 'search'] as const;
type Action = (typeof ACTIONS)[number];

function parseWords({ words, afterDashes }: Arguments): {
  action: Action;
  which: string;
  paths: readonly string[];
} {
  const [first, which = '', ...more] = words.slice(0, words.length - afterDashes.length);
  const action = first === undefined ? 'list' : ACTIONS.find((one) => one === first);
  if (action === undefined) throw new Failure('usage', 'rescue takes list, show, restore or search', HINT);
  if (more.length > 0) {
    throw new Failure('usage', 'paths go after --, and only one rescue before it', HINT);
  }
  if (action === 'restore' && which === '' && afterDashes.length === 0) {
    throw new Failure('usage', 'restore needs a number, a session or a path', {
      hint: 'git handoff rescue list',
    });
  }
  if (action === 'search' && afterDashes.length + Number(which !== '') !== 1)
    throw new Failure('usage', 'search needs one path', HINT);
  return { action, which, paths: afterDashes };
}
