import { type VerbTable, answer } from '../verb.ts';

/** The verbs for sessions that share a working directory. */
export const SHARING_VERBS: VerbTable = {
  sessions: {
    usage: 'sessions',
    group: 'sharing',
    summary: 'who is at work here',
    details: 'In this repository and all its worktrees.',
    words: [0, 0],
    options: { all: { type: 'boolean', alias: 'a', describe: 'ended ones too' } },
    examples: [['git handoff sessions', 'live ones first']],
    async run(args, context) {
      const { sessions } = await import('./sessions.ts');
      const result = await sessions({ all: args.flag('all'), session: args.text('session') }, context);
      return answer(result, async () => (await import('./sessions.ts')).renderSessions);
    },
  },
  status: {
    usage: 'status [-- <path>...]',
    group: 'sharing',
    summary: 'whose each uncommitted change is',
    words: [0, Infinity],
    options: {},
    examples: [['git handoff status -- src', 'only what is below src']],
    async run(args, context) {
      const { status } = await import('./status.ts');
      const result = await status({ paths: args.words, session: args.text('session') }, context);
      return answer(result, async () => (await import('./status-text.ts')).renderStatus);
    },
  },
  overlap: {
    usage: 'overlap [<session|branch|worktree>...]',
    group: 'sharing',
    summary: 'which work meets, and whether it would merge',
    details:
      'Compares worktrees in which a session is working, their uncommitted changes included, and the branch that each will be ' +
      'merged into. One name: what overlaps with it. Several: the overlaps among them. Exit status 1: something would not ' +
      'merge.',
    words: [0, Infinity],
    options: {},
    examples: [
      ['git handoff overlap', 'everybody at work, and this worktree'],
      ['git handoff overlap feature/login', 'what meets this branch'],
    ],
    async run(args, context) {
      const { overlap, renderOverlap } = await import('./overlap.ts');
      const result = await overlap({ names: args.words, session: args.text('session') }, context);
      return answer(result, () => Promise.resolve(renderOverlap));
    },
  },
};

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
      return answer(result, async () => (await import('./sessions.ts')).renderAllowed);
    },
  },
};
