import { flag } from '../options.ts';
import { type VerbTable, answer } from '../verb.ts';

export const DOCTOR_VERBS: VerbTable = {
  doctor: {
    usage: 'doctor',
    group: 'setup',
    summary: 'find and mend what is wrong',
    details: 'Checks that hooks reach the guard, notes are sound, and dead processes left nothing behind.',
    words: [0, 0],
    options: {
      fix: flag('fix what can be fixed without losing anything'),
    },
    examples: [['git handoff doctor --fix', 'put back what was moved by hand, remove stale locks']],
    async run(args, context, interaction) {
      const { doctor, renderDoctor } = await import('./doctor.ts');
      const { packageRoot } = await interaction.installContext();
      const result = await doctor({ fix: args.flag('fix'), packageRoot }, context);
      return answer(result, async () => renderDoctor);
    },
  },
};
