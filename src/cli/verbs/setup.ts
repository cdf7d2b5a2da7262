import type { InstallResult } from '../../commands/init.ts';
import { parseClients, parseScope } from '../parse.ts';
import { type Answer, type Verb, answer } from './verb.ts';

/** The verbs that set git-handoff up, look after it and take it back. */
export const SETUP_VERBS: Readonly<Record<string, Verb>> = {
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
      const { doctor } = await import('../../commands/doctor.ts');
      const { packageRoot } = await interaction.installContext();
      const options = { fix: args.flag('fix'), verify: args.flag('verify'), packageRoot };
      const result = await doctor(options, context);
      return answer(result, async () => (await import('../../ui/doctor.ts')).renderDoctor);
    },
  },
  allow: {
    usage: 'allow --once',
    summary: 'let the next refusal pass, once; typed by a person at a terminal',
    words: [0, 0],
    options: {
      once: { type: 'boolean', describe: 'one refusal, within ten minutes; nothing else is offered' },
    },
    examples: [['git handoff allow --once --session a1f0c3d2', 'only if that session is refused']],
    async run(args, context, interaction) {
      const { allow } = await import('../../commands/allow.ts');
      const options = { once: args.flag('once'), session: args.text('session'), ask: interaction.ask };
      const result = await allow(options, context);
      return answer(result, async () => (await import('../../ui/allow.ts')).renderAllowed);
    },
  },
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
      const { init } = await import('../../commands/init.ts');
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
      const { uninstall } = await import('../../commands/uninstall.ts');
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
    const { renderInstall } = await import('../../ui/install.ts');
    return (result) => renderInstall(wasAsked ? { ...result, plan: '' } : result);
  });
}
