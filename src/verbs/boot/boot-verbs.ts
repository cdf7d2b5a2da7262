import { answer, type VerbTable } from '../verb.ts';

export const BOOT_VERBS: VerbTable = {
  boot: {
    usage: 'boot [[<branch>/]<topic>]',
    group: 'notes',
    summary: 'check a note against the repository, to continue from it',
    words: [0, 1],
    options: {},
    examples: [
      ['git handoff boot', 'the newest open note of this branch'],
      ['git handoff boot main/auth-refresh --json', 'exit status 1: the note is stale'],
    ],
    async run(args, context) {
      const { boot } = await import('./boot.ts');
      const result = await boot({ topic: args.words[0], session: args.text('session') }, context);
      return answer(result, async () => (await import('./boot-text.ts')).renderBoot);
    },
  },
};
