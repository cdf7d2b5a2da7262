import type { InstallResult } from './init.ts';
import { flag, option } from '../options.ts';
import { type Answer, type VerbTable, answer } from '../verb.ts';

const DIFF = flag('only show every line that would change');

/** The verbs that switch git-handoff on and off. */
export const SETUP_VERBS: VerbTable = {
  init: {
    usage: 'init',
    group: 'setup',
    summary: 'switch git-handoff on in this repository',
    details: 'Shows what it will change, then asks.',
    words: [0, 0],
    options: {
      yes: flag('do not ask', { alias: 'y' }),
      diff: DIFF,
      project: flag("register the client's hooks for everybody in the project"),
      client: option(
        '<name>',
        'claude, codex, gemini, qwen, opencode, cursor, copilot, none, or all that are in use (default)',
        { array: true },
      ),
      instructions: flag(
        "add a few lines to the project's AGENTS.md, CLAUDE.md, GEMINI.md, for everybody in it",
      ),
      'context-nudge': flag(
        'in Codex, too, ask for a note when the context fills up; trust the new hook in /hooks',
      ),
      skill: flag('install the git-handoff skill for you in each of the clients'),
    },
    examples: [
      ['git handoff init', 'see the plan and say yes'],
      ['git handoff init --diff', 'see every line that would change'],
      ['git handoff init --client claude,codex', 'the hooks of both'],
      ['git handoff init --client none', "git's hooks alone, beside a client's plugin"],
    ],
    async run(args, _context, interaction) {
      const { init } = await import('./init.ts');
      const options = {
        yes: args.flag('yes'),
        diff: args.flag('diff'),
        scope: args.flag('project') ? ('project' as const) : ('user' as const),
        clients: args.texts('client').flatMap((text) => text.split(',')),
        instructions: args.flag('instructions'),
        skill: args.flag('skill'),
        contextNudge: args.flag('context-nudge'),
      };
      return installAnswer(await init(options, await interaction.installContext()), 'init', options.yes);
    },
  },
  uninstall: {
    usage: 'uninstall',
    group: 'setup',
    summary: 'undo what init did',
    details: 'Restores files byte for byte. The notes stay.',
    words: [0, 0],
    options: {
      yes: flag('do not ask', { alias: 'y' }),
      diff: DIFF,
      user: flag('remove the hooks from your own settings even if other repositories use them'),
      purge: flag('also remove the notes and everything else of ours, after a backup to a git bundle'),
    },
    examples: [
      ['git handoff uninstall', 'the notes stay'],
      ['git handoff uninstall --purge', 'as if it had never been here'],
    ],
    async run(args, context, interaction) {
      const { now } = context;
      const { uninstall, unguardedSessions } = await import('./uninstall.ts');
      const options = {
        yes: args.flag('yes'),
        diff: args.flag('diff'),
        user: args.flag('user'),
        ...(args.flag('purge') ? { purge: { now } } : {}),
      };
      const unguarded = options.diff ? [] : await unguardedSessions(context);
      const done = await uninstall(options, await interaction.installContext());
      const notices = done.outcome === 'applied' ? [...done.notices, ...unguarded] : done.notices;
      return installAnswer({ ...done, notices }, 'uninstall', options.yes);
    },
  },
};

function installAnswer(done: InstallResult, verb: 'init' | 'uninstall', yes: boolean): Answer {
  const exitCode = done.outcome === 'declined' ? 1 : 0;
  const { summary, ...value } = done;
  return answer({ value, notices: value.notices, exitCode }, async () => {
    const { renderInstall } = await import('./init.ts');
    return () => renderInstall(done, verb, yes ? summary : undefined);
  });
}
