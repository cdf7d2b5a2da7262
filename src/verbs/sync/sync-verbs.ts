import type { SyncOptions } from './items.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { Context } from '../../sessions/caller.ts';
import { type Interaction, type Answer, type VerbTable, answer } from '../verb.ts';
import type { Arguments } from '../options.ts';

/** The verb that exchanges handoffs with other machines. */
export const SYNC_VERBS: VerbTable = {
  sync: {
    usage: 'sync [--fetch | --push] [<remote>...]',
    group: 'remotes',
    summary: 'fetch and push notes',
    details: 'Never forces a push. If two machines have written the same note, keeps both texts.',
    words: [0, Infinity],
    options: {
      fetch: { type: 'boolean', describe: 'only fetch' },
      push: { type: 'boolean', describe: 'only push; stops if the remote has moved on' },
      'dry-run': {
        type: 'boolean',
        alias: 'n',
        describe: 'only show what would be done; nothing is fetched',
      },
      restore: { type: 'boolean', describe: 'put back what was deleted at the remote' },
      'allow-secret': {
        type: 'boolean',
        describe: 'push what looks like a secret, too; the log records this',
      },
      'with-work': {
        type: 'string',
        array: true,
        value: '[<branch>/]<topic>',
        describe: 'with --push: also send the uncommitted work that this note carries',
      },
    },
    examples: [
      ['git handoff sync', 'with the remote that git fetch would ask'],
      ['git handoff sync --push --dry-run', 'what would leave this machine'],
    ],
    run: (args, context, interaction) => run(halvesOf(args), args, context, interaction),
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
    throw new Failure('usage', '--with-work needs --push, without --fetch', {
      hint: `git handoff sync --push${work.join('')}`,
    });
  return halves;
}

async function run(
  halves: Pick<SyncOptions, 'fetch' | 'push'>,
  args: Arguments,
  context: Context,
  { progress, warn, ask }: Interaction,
): Promise<Answer> {
  const { sync, renderSync } = await import('./sync.ts');
  const options: SyncOptions = {
    ...halves,
    remotes: args.words,
    dryRun: args.flag('dry-run'),
    restore: args.flag('restore'),
    allowSecret: args.flag('allow-secret'),
    withWork: args.texts('with-work'),
    session: args.text('session'),
    mayAsk: ask !== undefined,
    onProgress:
      progress === undefined
        ? undefined
        : (remote, { stage, percent }) => progress(`${escapeLine(remote)}: ${escapeLine(stage)} ${percent}%`),
    warn,
  };
  try {
    const result = await sync(options, context);
    return answer(result, () => Promise.resolve(renderSync));
  } finally {
    progress?.('');
  }
}
