import type { InstallResult } from './init.ts';
import { Failure } from '../../domain/failure.ts';
import type { Arguments } from '../options.ts';
import { type Answer, type VerbTable, answer } from '../verb.ts';

/** The verbs that switch git-handoff on and take it back. */
export const SETUP_VERBS: VerbTable = {
  init: {
    usage: 'init',
    summary: 'switch git-handoff on in this repository; shows what it would change, then asks',
    words: [0, 0],
    options: {
      yes: { type: 'boolean', alias: 'y', describe: 'do not ask' },
      project: { type: 'boolean', describe: "register the client's hooks for everybody in the project" },
      local: { type: 'boolean', describe: 'register them for you in this project only' },
      client: {
        type: 'string',
        array: true,
        value: '<name>',
        describe: 'claude, codex, gemini, cursor, copilot, all that are in use (if not told), or none',
      },
      instructions: {
        type: 'boolean',
        describe: "add a few lines to the project's AGENTS.md, CLAUDE.md, GEMINI.md, for everybody in it",
      },
      skill: { type: 'boolean', describe: 'install the skill git-handoff for these clients, for you' },
    },
    examples: [
      ['git handoff init', 'see the plan and say yes'],
      ['git handoff init --yes --local', 'for you, here only'],
      ['git handoff init --client claude,codex', 'the hooks of both'],
      ['git handoff init --client none', "git's hooks alone, beside a client's plugin"],
    ],
    async run(args, _context, interaction) {
      const { init } = await import('./init.ts');
      const options = {
        yes: args.flag('yes'),
        scope: parseScope(args),
        clients: parseClients(args),
        instructions: args.flag('instructions'),
        skill: args.flag('skill'),
      };
      const installing = await interaction.installContext();
      const wasAsked = installing.confirm !== undefined && !options.yes;
      return installAnswer(await init(options, installing), wasAsked);
    },
  },
  uninstall: {
    usage: 'uninstall',
    summary: 'take back what init did, byte for byte; the notes stay',
    words: [0, 0],
    options: {
      yes: { type: 'boolean', alias: 'y', describe: 'do not ask' },
      user: {
        type: 'boolean',
        describe: 'remove the hooks of your settings even if other repositories use them',
      },
      purge: {
        type: 'boolean',
        describe: 'remove the notes and everything else of ours, too, after a backup into a git bundle',
      },
    },
    examples: [
      ['git handoff uninstall', 'the notes stay'],
      ['git handoff uninstall --purge', 'as if it had never been here'],
    ],
    async run(args, { now }, interaction) {
      const { uninstall } = await import('./uninstall.ts');
      const options = {
        yes: args.flag('yes'),
        user: args.flag('user'),
        ...(args.flag('purge') ? { purge: { now } } : {}),
      };
      const installing = await interaction.installContext();
      const wasAsked = installing.confirm !== undefined && !options.yes;
      return installAnswer(await uninstall(options, installing), wasAsked);
    },
  },
};

/** Who was asked has read the plan already. */
function installAnswer(value: InstallResult, wasAsked: boolean): Answer {
  const exitCode = value.outcome === 'declined' ? 1 : 0;
  return answer({ value, notices: value.notices, exitCode }, async () => {
    const { renderInstall } = await import('./setup-text.ts');
    return (result) => renderInstall(wasAsked ? { ...result, plan: '' } : result);
  });
}

/** `--project`, `--local`, or the user's own settings. */
function parseScope(args: Arguments): 'user' | 'project' | 'local' {
  if (args.flag('project') && args.flag('local')) {
    throw new Failure('usage', '--project and --local exclude each other', { hint: 'git handoff init -h' });
  }
  return args.flag('project') ? 'project' : args.flag('local') ? 'local' : 'user';
}

/** `--client`, given several times or with commas; empty when it is not told. */
function parseClients(args: Arguments): string[] {
  return args.texts('client').flatMap((text) => text.split(','));
}
