import { Failure } from '../../domain/failure.ts';
import { parseAge } from '../../domain/settings.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { EXPECT } from '../options.ts';
import { type VerbTable, answer, word } from '../verb.ts';

/** The verbs that delete notes. */
export const PURGE_VERBS: VerbTable = {
  prune: {
    usage: 'prune',
    group: 'notes',
    summary: 'delete notes that were closed long ago',
    details: 'Lists them first.',
    words: [0, 0],
    options: {
      'older-than': { type: 'string', value: '<age>', describe: 'not changed for this long (30d, 2w, 12h)' },
      yes: { type: 'boolean', describe: 'delete what is listed' },
    },
    examples: [
      ['git handoff prune --older-than 30d', 'what would go'],
      ['git handoff prune --older-than 30d --yes', 'delete it'],
    ],
    async run(args, context) {
      const age = args.text('older-than') ?? '';
      const olderThanMs = parseAge(age);
      if (olderThanMs === undefined) {
        const message =
          age === '' ? 'prune needs --older-than' : `not an age: ${escapeLine(JSON.stringify(age))}`;
        throw new Failure('usage', message, { hint: 'git handoff prune --older-than 30d' });
      }
      const { prune, renderPruned } = await import('./purge.ts');
      const options = { olderThanMs, age, yes: args.flag('yes'), session: args.text('session') };
      return answer(await prune(options, context), () => Promise.resolve(renderPruned));
    },
  },
  purge: {
    usage: 'purge [<branch>/]<topic>',
    group: 'notes',
    summary: 'delete a note for good, with its history',
    details: 'Its kept texts go, too. Lists everything first, and says what removes it from servers.',
    words: [1, 1],
    options: {
      take: { type: 'boolean', describe: 'also if another session owns it' },
      expect: EXPECT,
      yes: { type: 'boolean', describe: 'remove what is listed' },
    },
    examples: [['git handoff purge auth-refresh', 'what would go, and the command that does it']],
    async run(args, context) {
      const { purge, renderPurged } = await import('./purge.ts');
      const options = {
        topic: word(args),
        yes: args.flag('yes'),
        take: args.flag('take'),
        expect: args.text('expect'),
        session: args.text('session'),
      };
      return answer(await purge(options, context), () => Promise.resolve(renderPurged));
    },
  },
};
