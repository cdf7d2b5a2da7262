import type { SyncOptions } from './items.ts';
import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { TransferProgress } from '../../git/transfer.ts';
import { type VerbTable, answer } from '../verb.ts';
import { type Arguments, flag, option } from '../options.ts';

export const SYNC_VERBS: VerbTable = {
  sync: {
    usage: 'sync [--fetch | --push] [<remote>...]',
    group: 'remotes',
    summary: 'fetch and push notes',
    details: 'Never forces a push. If two machines have written the same note, keeps both texts.',
    words: [0, Infinity],
    options: {
      fetch: flag('only fetch'),
      push: flag('only push; stops if the remote has moved on'),
      'dry-run': flag('only show what would be done; nothing is fetched', { alias: 'n' }),
      restore: flag('put back what was deleted at the remote'),
      'allow-secret': flag('push what looks like a secret, too; the log records this'),
      'with-work': option(
        '[<branch>/]<topic>',
        'with --push: also send the uncommitted work that this note carries',
        { array: true },
      ),
    },
    examples: [
      ['git handoff sync', 'with the remote that git fetch would ask'],
      ['git handoff sync --push --dry-run', 'what would leave this machine'],
    ],
    async run(args, context, { progress, warn, ask }) {
      const halves = halvesOf(args);
      const { sync, renderSync } = await import('./sync.ts');
      const shown = (remote: string, { stage, percent }: TransferProgress) =>
        progress?.(`${escapeLine(remote)}: ${escapeLine(stage)} ${percent}%`);
      const options: SyncOptions = {
        ...halves,
        remotes: args.words,
        dryRun: args.flag('dry-run'),
        restore: args.flag('restore'),
        allowSecret: args.flag('allow-secret'),
        withWork: args.texts('with-work'),
        session: args.text('session'),
        mayAsk: ask !== undefined,
        onProgress: progress === undefined ? undefined : shown,
        warn,
      };
      try {
        return answer(await sync(options, context), () => Promise.resolve(renderSync));
      } finally {
        progress?.('');
      }
    },
  },
};

/** Which halves of a sync to do: both, unless an option names one. */
function halvesOf(args: Arguments): Pick<SyncOptions, 'fetch' | 'push'> {
  const [fetch, push] = [args.flag('fetch'), args.flag('push')];
  const halves = { fetch: fetch || !push, push: push || !fetch };
  const sends = ['restore', 'allow-secret'].find((name) => args.flag(name));
  if (!halves.push && sends !== undefined)
    throw new Failure('usage', `--${sends} applies only to a push`, { hint: `git handoff sync --${sends}` });
  const work = args.texts('with-work').map((topic) => ` --with-work ${shellWord(topic)}`);
  if (halves.fetch && work.length > 0)
    throw new Failure('usage', '--with-work works only with --push, and not with --fetch', {
      hint: `git handoff sync --push${work.join('')}`,
    });
  return halves;
}
