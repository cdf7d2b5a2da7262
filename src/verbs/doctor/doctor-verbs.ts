import { type VerbTable, answer } from '../verb.ts';

/** The verb that finds and mends what is wrong. */
export const DOCTOR_VERBS: VerbTable = {
  doctor: {
    usage: 'doctor',
    summary: 'check that hooks are reached, handoffs are sound and nothing is left of dead processes',
    words: [0, 0],
    options: {
      fix: { type: 'boolean', describe: 'mend what can be mended without losing anything' },
      verify: { type: 'boolean', describe: 'read every handoff again with another implementation of git' },
    },
    examples: [['git handoff doctor --fix', 'put back what was moved by hand, remove stale locks']],
    async run(args, context, interaction) {
      const { doctor } = await import('./doctor.ts');
      const { packageRoot } = await interaction.installContext();
      const options = { fix: args.flag('fix'), verify: args.flag('verify'), packageRoot };
      const result = await doctor(options, context);
      return answer(result, async () => (await import('./doctor-text.ts')).renderDoctor);
    },
  },
};
