import type { SyncOptions } from './world.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Context } from '../../sessions/caller.ts';
import { type Interaction, type Answer, type VerbTable, answer } from '../verb.ts';
import type { Arguments, OptionTable } from '../options.ts';

const SCOPE: OptionTable = {
  branch: { type: 'string', value: '<branch>', describe: 'only the handoffs of this branch' },
  'dry-run': { type: 'boolean', alias: 'n', describe: 'only show what would be done; nothing is fetched' },
};

const PUSHED: OptionTable = {
  restore: { type: 'boolean', describe: 'put back what was deleted at the remote' },
  'allow-secret': { type: 'boolean', describe: 'push what looks like a secret, too; the log records this' },
};

/** The verbs that bring handoffs from other machines and to them. */
export const SYNC_VERBS: VerbTable = {
  sync: {
    usage: 'sync [<remote>...]',
    group: 'remotes',
    summary: 'fetch and push notes',
    details:
      'Never forces a push. What was written on two machines at once stays: the text that came second is kept.',
    words: [0, Infinity],
    options: { ...SCOPE, ...PUSHED },
    examples: [['git handoff sync', 'with the remote that git fetch would ask']],
    run: (args, context, interaction) => run({ fetch: true, push: true }, args, context, interaction),
  },
  fetch: {
    usage: 'fetch [<remote>...]',
    group: 'remotes',
    summary: 'fetch notes: the first half of sync',
    words: [0, Infinity],
    options: SCOPE,
    examples: [['git handoff fetch origin', 'what others have written']],
    run: (args, context, interaction) => run({ fetch: true, push: false }, args, context, interaction),
  },
  push: {
    usage: 'push [<remote>...]',
    group: 'remotes',
    summary: 'push notes: the second half of sync',
    details: 'Stops if the remote has moved on.',
    words: [0, Infinity],
    options: {
      ...SCOPE,
      ...PUSHED,
      'with-work': {
        type: 'string',
        array: true,
        value: '[<branch>/]<topic>',
        describe: 'also send the uncommitted work that this note carries',
      },
    },
    examples: [
      ['git handoff push --dry-run', 'what would leave this machine'],
      ['git handoff push --with-work auth-refresh', 'the notes, and the work that one of them carries'],
    ],
    run: (args, context, interaction) => run({ fetch: false, push: true }, args, context, interaction),
  },
};

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
    branch: args.text('branch'),
    dryRun: args.flag('dry-run'),
    restore: args.flag('restore'),
    allowSecret: args.flag('allow-secret'),
    withWork: halves.fetch ? [] : args.texts('with-work'),
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
