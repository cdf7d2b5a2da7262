import { Failure, shellWord } from '../../domain/messages.ts';
import { type Arguments, flag } from '../options.ts';
import { PATHSPEC_OPTIONS, anchored, readPathspecs } from '../pathspecs.ts';
import { type Interaction, type VerbTable, answer } from '../verb.ts';

export const SHARING_VERBS: VerbTable = {
  sessions: {
    usage: 'sessions',
    group: 'sharing',
    summary: 'who is at work here',
    details: 'In this repository and all its worktrees.',
    words: [0, 0],
    options: { all: flag('ended ones too', { alias: 'a' }) },
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
    summary: 'show who owns each uncommitted change',
    words: [0, Infinity],
    options: {},
    examples: [['git handoff status -- src', 'only what is below src']],
    async run(args, context) {
      const { status } = await import('./status.ts');
      const result = await status({ paths: args.words, session: args.text('session') }, context);
      return answer(result, async () => (await import('./status-text.ts')).renderStatus);
    },
  },
  diff: {
    usage: 'diff [<session>] [-- <pathspec>...]',
    group: 'sharing',
    summary: 'what one session has changed and not committed',
    details:
      "Prints a patch that git apply can apply to HEAD. Of a file that several sessions changed, it has only this session's " +
      'hunks. Without a name, a session gets its own changes; a person gets a patch for each session.',
    words: [0, Infinity],
    options: {
      stat: flag('only files and numbers of lines'),
      ...PATHSPEC_OPTIONS,
    },
    examples: [
      ['git handoff diff', 'what you have changed'],
      ['git handoff diff a1f0c3d2 --stat', 'how much that session has changed'],
    ],
    async run(args, context, interaction) {
      const { diff } = await import('./diff.ts');
      const options = { ...(await sessionAndPaths(args, interaction, 'diff')), stat: args.flag('stat') };
      const result = await anchored(context, () => diff(options, context));
      return answer(result, () => Promise.resolve(() => ''));
    },
  },
  undo: {
    usage: 'undo [<session>] [-- <pathspec>...]',
    group: 'sharing',
    summary: "take one session's uncommitted changes back, and nobody else's",
    details:
      'Undoes all of them or none, and first keeps them as a rescue. An agent can undo its own changes and those of sessions ' +
      'that are over; a person can undo those of any session. Commits stay: it prints the git revert that undoes them.',
    words: [0, Infinity],
    options: PATHSPEC_OPTIONS,
    examples: [
      ['git handoff undo a1f0c3d2', 'all that this session has not committed'],
      ['git handoff undo -- src/auth.ts', 'your own changes in one file'],
    ],
    async run(args, context, interaction) {
      const { undo } = await import('./undo.ts');
      const options = await sessionAndPaths(args, interaction, 'undo');
      const result = await anchored(context, () => undo(options, context));
      return answer(result, async () => (await import('./undo.ts')).renderUndone);
    },
  },
  try: {
    usage: 'try [--] <command> [<arg>...]',
    group: 'sharing',
    summary: 'run a command on HEAD plus only your own changes',
    details:
      "Runs the command without others' half-done work, in a worktree that git-handoff reuses. Ignored dependencies are linked there " +
      "(handoff.tryLinks); other ignored files are missing. The exit status is the command's. git handoff write adds the result to " +
      'the note, and git handoff boot says whether that result still holds.',
    words: [1, Infinity],
    options: {},
    examples: [
      ['git handoff try npm test', 'whether the tests pass with your work alone'],
      ["git handoff try -- sh -c 'npm run build && npm test'", 'shell syntax needs a shell'],
    ],
    async run(args, context, interaction) {
      const { tryCommand } = await import('./try.ts');
      const tell = args.flag('quiet') ? () => undefined : interaction.warn;
      const options = { argv: args.words, session: args.text('session'), tell };
      return answer(await tryCommand(options, context), () => Promise.resolve(() => ''));
    },
  },
  overlap: {
    usage: 'overlap [<session|branch|worktree>...]',
    group: 'sharing',
    summary: 'show which changes overlap, and whether they would merge',
    details:
      'Compares worktrees in which a session is working, their uncommitted changes included, and the default branch. With ' +
      'one name, shows what overlaps with it; with several, what overlaps among them. Exit status 1: something would not merge.',
    words: [0, Infinity],
    options: {},
    examples: [
      ['git handoff overlap', 'everybody at work, and this worktree'],
      ['git handoff overlap feature/login', 'what overlaps with this branch'],
    ],
    async run(args, context) {
      const { overlap, renderOverlap } = await import('./overlap.ts');
      const result = await overlap({ names: args.words, session: args.text('session') }, context);
      return answer(result, () => Promise.resolve(renderOverlap));
    },
  },
};

/** The words `[<session>] [-- <pathspec>...]`. */
async function sessionAndPaths(args: Arguments, interaction: Interaction, verb: string) {
  const { words, afterDashes } = args;
  const [of, more] = words.slice(0, words.length - afterDashes.length);
  if (more !== undefined) {
    const hint = `git handoff ${verb} -- ${words.map(shellWord).join(' ')}`;
    throw new Failure('usage', 'paths go after --, and only one session before it', { hint });
  }
  const pathspecs = await readPathspecs(args, interaction, afterDashes);
  return { of, pathspecs, session: args.text('session') };
}

export const ALLOW_VERBS: VerbTable = {
  allow: {
    usage: 'allow --once',
    group: 'sharing',
    summary: 'let the next refused action through, once',
    details: 'Only a person can do so, at a terminal.',
    words: [0, 0],
    options: {
      once: flag('one refusal, within ten minutes (required)'),
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
