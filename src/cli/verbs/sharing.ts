import { answer, type Verb } from './verb.ts';

/** The verbs for sessions that share a working directory. */
export const SHARING_VERBS: Readonly<Record<string, Verb>> = {
  sessions: {
    usage: 'sessions',
    summary: 'who is at work in this repository and its worktrees',
    words: [0, 0],
    options: { all: { type: 'boolean', alias: 'a', describe: 'ended ones too' } },
    examples: [['git handoff sessions', 'live ones first']],
    async run(args, context) {
      const { sessions } = await import('../../commands/sessions.ts');
      const result = await sessions({ all: args.flag('all'), session: args.text('session') }, context);
      return answer(result, async () => (await import('../../ui/sessions.ts')).renderSessions);
    },
  },
  status: {
    usage: 'status [-- <path>...]',
    summary: 'whose each uncommitted change of this working tree is',
    words: [0, Infinity],
    options: {},
    examples: [['git handoff status -- src', 'only what is below src']],
    async run(args, context) {
      const { status } = await import('../../commands/status.ts');
      const result = await status({ paths: args.words, session: args.text('session') }, context);
      return answer(result, async () => (await import('../../ui/status.ts')).renderStatus);
    },
  },
  check: {
    usage: 'check [<range>]',
    summary: 'find commits that mix sessions, and handoffs that were moved by hand',
    words: [0, 1],
    options: {},
    examples: [
      ['git handoff check', 'what is not pushed yet'],
      ['git handoff check origin/main..HEAD', 'in CI'],
    ],
    async run(args, context) {
      const { check } = await import('../../commands/check.ts');
      const result = await check({ range: args.words[0] }, context);
      return answer(result, async () => (await import('../../ui/check.ts')).renderCheck);
    },
  },
};
