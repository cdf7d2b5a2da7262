import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { parseAge } from '../../domain/settings.ts';
import { type Arguments, EXPECT, type OptionTable } from '../options.ts';
import { type Verb, answer, word } from './verb.ts';

const TAKE_AND_EXPECT: OptionTable = {
  take: { type: 'boolean', describe: 'become the owner first if another session owns it' },
  expect: EXPECT,
};

/** The verbs that compare notes, end them and clear them away. */
export const UPKEEP_VERBS: Readonly<Record<string, Verb>> = {
  diff: {
    usage: 'diff [<branch>/]<topic> [<a> [<b>]]',
    summary: 'what changed in a note: by its last change, since version <a>, or from <a> to <b>',
    words: [1, 3],
    options: {},
    examples: [['git handoff diff auth-refresh', 'what the last writer changed']],
    async run(args, context) {
      const { diff } = await import('../../commands/diff.ts');
      const [topic = '', ...versions] = args.words;
      const result = await diff({ topic, versions, session: args.text('session') }, context);
      return answer(result, async () => (await import('../../ui/upkeep.ts')).renderDiff);
    },
  },
  close: {
    usage: 'close [<branch>/]<topic>',
    summary: 'mark a topic as done; its history stays',
    words: [1, 1],
    options: TAKE_AND_EXPECT,
    examples: [['git handoff close auth-refresh', 'the work is done']],
    async run(args, context) {
      const { close } = await import('../../commands/close.ts');
      const result = await close(stateOptions(args), context);
      return answer(result, async () => (await import('../../ui/handoffs.ts')).renderState);
    },
  },
  reopen: {
    usage: 'reopen [<branch>/]<topic>',
    summary: 'take up a topic again that was done',
    words: [1, 1],
    options: TAKE_AND_EXPECT,
    examples: [['git handoff reopen auth-refresh', 'it was not done after all']],
    async run(args, context) {
      const { reopen } = await import('../../commands/close.ts');
      const result = await reopen(stateOptions(args), context);
      return answer(result, async () => (await import('../../ui/handoffs.ts')).renderState);
    },
  },
  prune: {
    usage: 'prune',
    summary: 'delete closed handoffs that nobody has changed for long; lists them first',
    words: [0, 0],
    options: {
      'older-than': { type: 'string', value: '<age>', describe: 'not changed for so long (30d, 2w, 12h)' },
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
      const { prune } = await import('../../commands/prune.ts');
      const options = { olderThanMs, age, yes: args.flag('yes'), session: args.text('session') };
      return answer(
        await prune(options, context),
        async () => (await import('../../ui/upkeep.ts')).renderPruned,
      );
    },
  },
  purge: {
    usage: 'purge [<branch>/]<topic>',
    summary: 'remove a note for good, with its history and kept texts; lists them first',
    words: [1, 1],
    options: {
      remote: { type: 'string', array: true, value: '<name>', describe: 'remove it from that remote, too' },
      take: { type: 'boolean', describe: 'also if another session owns it' },
      expect: EXPECT,
      gc: { type: 'boolean', describe: 'then let git collect all its garbage: git gc --prune=now' },
      yes: { type: 'boolean', describe: 'remove what is listed' },
    },
    examples: [
      ['git handoff purge auth-refresh', 'what would go, and the command that does it'],
      ['git handoff purge main/auth-refresh --remote origin', 'from there, too'],
    ],
    async run(args, context) {
      const { purge } = await import('../../commands/purge.ts');
      const options = {
        topic: word(args),
        yes: args.flag('yes'),
        take: args.flag('take'),
        expect: args.text('expect'),
        remotes: args.texts('remote'),
        gc: args.flag('gc'),
        session: args.text('session'),
      };
      return answer(
        await purge(options, context),
        async () => (await import('../../ui/purge.ts')).renderPurged,
      );
    },
  },
};

function stateOptions(args: Arguments) {
  return {
    topic: word(args),
    take: args.flag('take'),
    expect: args.text('expect'),
    session: args.text('session'),
  };
}
