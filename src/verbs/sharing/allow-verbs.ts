import { type VerbTable, answer } from '../verb.ts';

/** The verb by which a person lets a refused command pass. */
export const ALLOW_VERBS: VerbTable = {
  allow: {
    usage: 'allow --once',
    group: 'sharing',
    summary: 'let the next refusal pass, once',
    details: 'Only a person can, at a terminal.',
    words: [0, 0],
    options: {
      once: { type: 'boolean', describe: 'one refusal, within ten minutes (required)' },
    },
    examples: [['git handoff allow --once --session a1f0c3d2', 'only if that session is refused']],
    async run(args, context, interaction) {
      const { allow } = await import('./allow.ts');
      const options = { once: args.flag('once'), session: args.text('session'), ask: interaction.ask };
      const result = await allow(options, context);
      return answer(result, async () => (await import('./sessions-text.ts')).renderAllowed);
    },
  },
};
