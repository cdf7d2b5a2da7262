import { flag, option } from '../options.ts';
import { answer, type VerbTable } from '../verb.ts';

export const WORK_VERBS: VerbTable = {
  unpack: {
    usage: 'unpack [[<branch>/]<topic>]',
    group: 'notes',
    summary: 'take over the uncommitted work that a note carries',
    details: 'Unpacks all of it or nothing. Without a topic: the newest open note of this branch.',
    words: [0, 1],
    options: {
      'dry-run': flag('only say whether it would unpack cleanly', { alias: 'n' }),
      merge: flag('leave conflict markers in files that conflict with HEAD'),
      from: option('<owner>', "accept another person's work, from this address or session"),
      trust: option('<path>', 'accept this file, which makes programs run or instructs agents', {
        array: true,
      }),
    },
    examples: [
      ['git handoff unpack auth-refresh', "its writer's uncommitted changes, staged as they were"],
      ['git handoff unpack --dry-run', 'whose it is, how much, and whether it unpacks cleanly here'],
    ],
    async run(args, context, { warn, ask, progress }) {
      const { unpack } = await import('./unpack.ts');
      const options = {
        topic: args.words[0],
        dryRun: args.flag('dry-run'),
        merge: args.flag('merge'),
        from: args.text('from'),
        trust: args.texts('trust'),
        session: args.text('session'),
        transfer: {
          mayAsk: ask !== undefined,
          onProgress:
            progress === undefined
              ? undefined
              : ({ stage, percent }: { stage: string; percent: number }) => progress(`${stage} ${percent}%`),
        },
        warn,
      };
      try {
        const result = await unpack(options, context);
        return answer(result, async () => (await import('./unpack.ts')).renderUnpacked);
      } finally {
        progress?.('');
      }
    },
  },
};
